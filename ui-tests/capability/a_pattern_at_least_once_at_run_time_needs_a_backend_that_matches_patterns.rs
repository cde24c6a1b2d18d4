use backends::{FIVE, FlatQueue};
use tramline::{Bus, durable, name, pattern, source};

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .pattern(pattern!("invoice.*"))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: A wildcard needs a backend that compares patterns to subjects. Where each subject is a queue
// of its own, name the one that is meant.
