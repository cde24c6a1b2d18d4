use std::time::Duration;

use backends::{FIVE, Impatient};
use tramline::{Backoff, Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Impatient, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .backoff(Backoff::new(Duration::from_secs(1), Duration::from_secs(60), 2.0).unwrap())
        .handle(|delivery| async { delivery.ack() });
}

// Cause: A backoff holds a declined message back for a while. A backend that cannot would offer it
// again at once, and the delay would be a promise that nobody keeps.
