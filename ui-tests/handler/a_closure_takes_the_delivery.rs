use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|| async {});
}

// Cause: A closure has one argument, the delivery: the subject, the event, and the words to settle it.
