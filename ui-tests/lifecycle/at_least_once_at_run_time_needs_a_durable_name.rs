use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async { delivery.ack() });
}
