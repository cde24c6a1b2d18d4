use backends::{FIVE, Shuffled};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Shuffled, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .ordered()
        .handle(|delivery| async { delivery.ack() });
}

// Cause: `ordered` asks for the messages of one subject as they were published, and this backend does
// not promise that.
