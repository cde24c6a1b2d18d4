use backends::AtMostOnly;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    start_at = AllAvailable,
    max_nack_delay = "1m",
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: Replay and delays are parts of at least once. Without the mode there is one error, about the
// mode.
