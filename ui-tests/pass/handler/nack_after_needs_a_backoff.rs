use std::time::Duration;

use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delayed, Delivery, Settled, source, subscription, subscription::DelayTooLong};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, max_nack_delay = "1m")]
async fn invoices(delivery: Delivery<AtLeastOnce<Delayed>>) -> Result<Settled, DelayTooLong> {
    delivery.nack_after(Duration::from_secs(10))
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
