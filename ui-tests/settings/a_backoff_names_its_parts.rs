use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, backoff(initial = "1s", multiplier = 2.0))]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: A backoff has a first and a longest delay, and both are named. Only the multiplier has a
// default, which is 2.
