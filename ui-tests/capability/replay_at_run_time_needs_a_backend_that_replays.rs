use backends::{FIVE, ForwardOnly};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(ForwardOnly, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .replay()
        .handle(|delivery| async { delivery.ack() });
}

// Cause: To begin at the oldest message that is kept, the backend must keep what was published before.
// This one delivers what comes from then on.
