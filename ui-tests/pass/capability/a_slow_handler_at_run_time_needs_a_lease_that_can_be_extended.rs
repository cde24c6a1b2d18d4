use backends::{FIVE, FixedLease};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(FixedLease, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .redeliver_when_slow()
        .handle(|delivery| async { delivery.ack() });
}
