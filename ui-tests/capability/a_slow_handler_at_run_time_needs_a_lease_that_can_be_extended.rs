use backends::{FIVE, FixedLease};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(FixedLease, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: Unless a subscription says otherwise, a message stays its handler's as long as the handler
// runs. This backend's lease ends after a fixed time, whatever the handler does, so a slow one runs
// beside the next attempt: say that this is safe.
