use backends::FlatQueue;
use tramline::{Bus, name, pattern, source};

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .pattern(pattern!("invoice.*"))
        .handle(|_| async {});
}

// Cause: A wildcard needs a backend that compares patterns to subjects. Where each subject is a queue
// of its own, name the one that is meant.
