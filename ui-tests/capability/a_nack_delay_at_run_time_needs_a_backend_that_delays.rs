use std::time::Duration;

use backends::{FIVE, Impatient};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Impatient, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .max_nack_delay(Duration::from_secs(60))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: `max_nack_delay` lets handlers ask for a delay with `nack_after`, and this backend cannot
// hold a message back.
