use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: At least once needs the name under which messages are kept and the number of attempts. Both
// are arguments, so that neither can be forgotten.
