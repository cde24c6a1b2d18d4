use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, ack_wait = "30")]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}
