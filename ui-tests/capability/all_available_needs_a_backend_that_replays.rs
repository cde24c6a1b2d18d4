use backends::ForwardOnly;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    start_at = AllAvailable,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(ForwardOnly, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: To begin at the oldest message that is kept, the backend must keep what was published before.
// This one delivers what comes from then on.
