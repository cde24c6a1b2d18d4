use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, max_deliver = 5)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: What is owed is kept for somebody. The durable name says for whom, and goes on meaning the
// same subscription when the function is renamed.
