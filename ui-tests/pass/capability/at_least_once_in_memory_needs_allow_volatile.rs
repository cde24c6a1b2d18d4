use tramline::{Ack, Bus, Memory, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    allow_volatile,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Memory::new(), source!("urn:example:billing")).subscribe(invoices);
}
