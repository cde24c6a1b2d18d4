use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, ordered, backoff(initial = "1s", max = "1m", multiplier = 2.0))]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: While one message waits out its delay the next ones are handled, so they are out of order.
// Either the order goes, or the backoff, or order is kept for each key alone.
