use backends::Everything;
use tramline::{Backoff, Bus, name, source, subject};

fn declare(backoff: Backoff) {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .backoff(backoff)
        .handle(|_| async {});
}

fn main() {
    let _ = declare;
}

// Cause: The builder of a mode has the settings of that mode. At most once nothing comes back, so
// there is no backoff to set.
