use backends::Impatient;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    max_nack_delay = "1m",
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Impatient, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: `max_nack_delay` lets handlers ask for a delay with `nack_after`, and this backend cannot
// hold a message back.
