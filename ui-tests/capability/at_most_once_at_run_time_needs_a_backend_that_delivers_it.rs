use backends::AtLeastOnly;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(AtLeastOnly, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|_| async {});
}

// Cause: At most once is a promise too: one attempt, whatever happens. A backend that may deliver a
// message twice does not give it.
