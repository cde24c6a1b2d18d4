use backends::AtMostOnly;
use tramline::{Bus, Fail, name, source, subject};

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .overflow(Fail)
        .handle(|_| async {});
}

// Cause: With `Fail` a publish reports that a queue is full. Through this backend a publisher never
// learns about the queues of subscribers.
