use backends::{FIVE, ForwardOnly};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(ForwardOnly, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async { delivery.ack() });
}
