use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, backoff(initial = "1m", max = "1s", multiplier = 2.0))]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: `initial` is the first delay and `max` the longest one. They are the wrong way round.
