use backends::AtMostOnly;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: At least once needs a backend that waits for an acknowledgement and offers the message again
// without one.
