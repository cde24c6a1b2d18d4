use tramline::{Ack, Bus, JetStream, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let jetstream = JetStream::new("nats://localhost:4222", "INVOICES");
    let _ = Bus::builder(jetstream, source!("urn:example:billing")).subscribe(invoices);
}
