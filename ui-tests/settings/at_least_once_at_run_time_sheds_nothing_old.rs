use backends::{Everything, FIVE};
use tramline::{Bus, ShedOldest, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .overflow(ShedOldest)
        .handle(|delivery| async { delivery.ack() });
}

// Cause: To shed is to throw away. A message that is owed cannot be thrown away, only refused before
// it is taken.
