use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices).build();
}
