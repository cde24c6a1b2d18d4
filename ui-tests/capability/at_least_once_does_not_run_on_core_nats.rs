use tramline::{Ack, Bus, Nats, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let nats = Nats::new("nats://localhost:4222");
    let _ = Bus::builder(nats, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: Core NATS forgets a message once it has sent it. The same servers keep messages in streams,
// which is the backend `JetStream`.
