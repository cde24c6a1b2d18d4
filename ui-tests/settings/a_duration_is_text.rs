use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, ack_wait = 30)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: A bare number does not say whether it means seconds. A duration is a text with its unit.
