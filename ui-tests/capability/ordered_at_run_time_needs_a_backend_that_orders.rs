use backends::Shuffled;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Shuffled, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .ordered()
        .handle(|_| async {});
}

// Cause: `ordered` asks for the messages of one subject as they were published, and this backend does
// not promise that.
