use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delivery, Settled, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices(delivery: Delivery<AtLeastOnce>) -> Settled {
    let _ = delivery.ack();
    delivery.nack()
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: `ack`, `nack` and `nack_after` consume the delivery, so that a message cannot get two
// answers.
