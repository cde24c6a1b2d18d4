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

// Cause: Two capabilities that have nothing to do with each other are two errors, so that both are
// seen at once.
