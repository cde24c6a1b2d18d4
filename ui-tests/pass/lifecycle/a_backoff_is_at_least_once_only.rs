use backends::{Everything, FIVE};
use tramline::{Backoff, Bus, durable, name, source, subject};

fn declare(backoff: Backoff) {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .backoff(backoff)
        .handle(|delivery| async { delivery.ack() });
}

fn main() {
    let _ = declare;
}
