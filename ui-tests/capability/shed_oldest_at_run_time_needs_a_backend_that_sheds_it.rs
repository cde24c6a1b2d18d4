use backends::AtMostOnly;
use tramline::{Bus, ShedOldest, name, source, subject};

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .overflow(ShedOldest)
        .handle(|_| async {});
}

// Cause: What happens at the bound is done by the backend, and this one does not have the policy. With
// `prefer(..)` it is used where it is offered, and the bus lists what was dropped.
