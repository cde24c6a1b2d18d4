use backends::{FIVE, Forgetful};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Forgetful, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .allow_volatile()
        .handle(|delivery| async { delivery.ack() });
}
