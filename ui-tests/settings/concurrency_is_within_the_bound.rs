use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, bound = 4, concurrency = 8)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: What is in hand counts against the bound, so no more messages can be handled side by side
// than the bound allows.
