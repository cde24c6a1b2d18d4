use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delivery, Settled, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, max_deliver = 5)]
async fn invoices(delivery: Delivery<AtLeastOnce>) -> Settled {
    delivery.ack()
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: At least once needs a durable name. The other subscriptions of the bus are not reported along
// with it.
