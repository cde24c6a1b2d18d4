use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .bound(0)
        .handle(|_| async {});
}

// Cause: A bound is a `NonZeroUsize`, so that zero is refused where the number comes from.
