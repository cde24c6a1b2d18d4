use std::time::Duration;

use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delivery, Settled, source, subscription, subscription::DelayTooLong};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices(delivery: Delivery<AtLeastOnce>) -> Result<Settled, DelayTooLong> {
    delivery.nack_after(Duration::from_secs(10))
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A handler may ask for a delay only where the subscription allows for one, by a backoff or by
// `max_nack_delay`. Then the delivery is a `Delivery<AtLeastOnce<Delayed>>`, which has the method.
