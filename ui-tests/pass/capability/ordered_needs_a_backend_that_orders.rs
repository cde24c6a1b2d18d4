use backends::Shuffled;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Shuffled, source!("urn:example:billing")).subscribe(invoices);
}
