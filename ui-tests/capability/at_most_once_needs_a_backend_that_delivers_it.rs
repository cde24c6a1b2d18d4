use backends::AtLeastOnly;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(AtLeastOnly, source!("urn:example:billing")).subscribe(invoices);
}
