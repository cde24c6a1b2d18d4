use backends::Unbothered;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    overflow = Fail,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Unbothered, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: With `Fail` a publish reports that a queue is full. Through this backend a publisher never
// learns about the queues of subscribers.
