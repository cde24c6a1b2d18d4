use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delivery, Settled, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice.raised", mode = AtLeastOnec, durable = "invoices", max_deliver = 5)]
async fn invoices(delivery: Delivery<AtLeastOnce>) -> Settled {
    delivery.ack()
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: The name does not exist. The other subscriptions of the bus are not reported along with it.
