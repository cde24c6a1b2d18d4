use backends::AtMostOnly;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    overflow = ShedNewest,
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing")).subscribe(invoices);
}
