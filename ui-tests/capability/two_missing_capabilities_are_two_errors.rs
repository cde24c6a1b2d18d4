// errors: 2
use backends::AtMostOnly;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    ordered,
    overflow = ShedOldest,
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing")).subscribe(invoices);
}
