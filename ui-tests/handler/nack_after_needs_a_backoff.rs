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
