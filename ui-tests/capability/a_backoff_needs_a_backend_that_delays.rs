use backends::Impatient;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    backoff(initial = "1s", max = "1m", multiplier = 2.0),
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Impatient, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A backoff holds a declined message back for a while. A backend that cannot would offer it
// again at once, and the delay would be a promise that nobody keeps.
