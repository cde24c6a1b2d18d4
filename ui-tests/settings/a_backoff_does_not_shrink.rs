use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, backoff(initial = "1s", max = "1m", multiplier = 0.5))]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: The delay is multiplied with each attempt. With a multiplier below 1 it would shrink.
