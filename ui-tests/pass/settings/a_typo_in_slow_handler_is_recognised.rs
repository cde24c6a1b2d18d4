use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, slow_handler = Redeliver)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}
