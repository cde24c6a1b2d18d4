use backends::Everything;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
    backoff(initial = "1s", max = "1m", multiplier = 2.0),
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
