use backends::{AtMostOnly, FIVE};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: At least once needs a backend that waits for an acknowledgement and offers the message again
// without one.
