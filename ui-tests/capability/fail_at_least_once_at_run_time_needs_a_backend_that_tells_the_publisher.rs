use backends::{FIVE, Unbothered};
use tramline::{Bus, Fail, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Unbothered, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .overflow(Fail)
        .handle(|delivery| async { delivery.ack() });
}

// Cause: With `Fail` a publish reports that a queue is full. Through this backend a publisher never
// learns about the queues of subscribers.
