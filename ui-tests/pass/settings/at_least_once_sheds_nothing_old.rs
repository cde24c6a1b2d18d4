use tramline::{Ack, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, overflow = Fail)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = invoices;
}
