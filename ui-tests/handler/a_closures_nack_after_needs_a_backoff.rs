use std::time::Duration;

use backends::{Everything, FIVE};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async move { delivery.nack_after(Duration::from_secs(10)) });
}

// Cause: A handler may ask for a delay only where the subscription allows for one, by a backoff or by
// `max_nack_delay`. Then the delivery is a `Delivery<AtLeastOnce<Delayed>>`, which has the method.
