use backends::Shuffled;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Shuffled, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .ordered()
        .handle(|_| async {});
}
