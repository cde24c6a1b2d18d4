use backends::{Everything, FIVE};
use tramline::{Bus, durable, group, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .group(group!("billing"))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: At least once, all processes on one durable name share the messages, so there is no group to
// name.
