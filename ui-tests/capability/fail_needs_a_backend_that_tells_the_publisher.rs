use backends::AtMostOnly;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    overflow = Fail,
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: With `Fail` a publish reports that a queue is full. Through this backend a publisher never
// learns about the queues of subscribers.
