use backends::ForwardOnly;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    start_at = New,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(ForwardOnly, source!("urn:example:billing")).subscribe(invoices);
}
