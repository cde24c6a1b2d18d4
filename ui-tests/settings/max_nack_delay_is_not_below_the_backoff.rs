use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, backoff(initial = "1s", max = "1m", multiplier = 2.0), max_nack_delay = "30s")]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: The backoff may hold a message longer than a handler may ask for. The longest delay of all
// cannot be the shorter one.
