use backends::Everything;
use tramline::{Bus, State, name, source, subject};

#[derive(Clone)]
struct Db;

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle_with(|_, State(_db): State<Db>| async {});
}

// Cause: A bus has one state, given with `.state(..)`. A handler takes it, or a part of it that
// implements `FromState`.
