use backends::AtMostOnly;
use tramline::{Bus, ShedNewest, name, source, subject};

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .overflow(ShedNewest)
        .handle(|_| async {});
}
