use backends::Forgetful;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Forgetful, source!("urn:example:billing")).subscribe(invoices);
}
