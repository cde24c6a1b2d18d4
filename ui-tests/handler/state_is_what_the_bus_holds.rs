use backends::Everything;
use tramline::{Bus, State, source, subscription};

#[derive(Clone)]
struct Db;

#[subscription(subject = "invoice.raised")]
async fn invoices(State(_db): State<Db>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A bus has one state, given with `.state(..)`. A handler takes it, or a part of it that
// implements `FromState`.
