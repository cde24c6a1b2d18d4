use backends::{Everything, FIVE};
use tramline::{Bus, Fail, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .overflow(Fail)
        .handle(|delivery| async { delivery.ack() });
}
