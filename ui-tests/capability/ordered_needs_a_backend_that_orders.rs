use backends::Shuffled;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    ordered,
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Shuffled, source!("urn:example:billing")).subscribe(invoices);
}
