use std::num::NonZeroUsize;

use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .bound(const { NonZeroUsize::new(512).unwrap() })
        .handle(|_| async {});
}
