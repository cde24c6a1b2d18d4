use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, backoff(initial = "0s", max = "1m", multiplier = 2.0))]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: A delay of zero holds nothing back. Without a backoff a declined message comes back at once.
