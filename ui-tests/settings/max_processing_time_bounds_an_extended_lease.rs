use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, slow_handler = Redeliver, max_processing_time = "1m")]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: `max_processing_time` says for how long a lease is extended. Under `Redeliver` it is not
// extended at all.
