use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "billing.invoices", max_deliver = 5)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}

// Cause: A durable name becomes the name of something at a broker, a consumer or a queue. Brokers
// differ in what they accept, and this is what all of them do.
