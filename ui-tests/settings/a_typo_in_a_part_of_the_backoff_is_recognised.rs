use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, backoff(inital = "1s", max = "1m", multiplier = 2.0))]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: The setting has parts, and none of that name. A name that is close to one that exists is
// suggested.
