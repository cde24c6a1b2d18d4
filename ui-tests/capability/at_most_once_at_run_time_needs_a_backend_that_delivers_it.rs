use backends::AtLeastOnly;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(AtLeastOnly, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|_| async {});
}
