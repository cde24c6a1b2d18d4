use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delayed, Delivery, Settled, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices(delivery: Delivery<AtLeastOnce<Delayed>>) -> Settled {
    delivery.ack()
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A `Delivery<AtLeastOnce<Delayed>>` can be declined with a delay. It belongs to subscriptions
// that have a backoff or a `max_nack_delay`.
