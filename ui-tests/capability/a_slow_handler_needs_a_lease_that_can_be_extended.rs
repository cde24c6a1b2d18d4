use backends::FixedLease;
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
    let _ = Bus::builder(FixedLease, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: Unless a subscription says otherwise, a message stays its handler's as long as the handler
// runs. This backend's lease ends after a fixed time, whatever the handler does, so a slow one runs
// beside the next attempt: say that this is safe.
