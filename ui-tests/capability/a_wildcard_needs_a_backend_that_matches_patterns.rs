use backends::FlatQueue;
use tramline::{Bus, source, subscription};

#[subscription(
    pattern = "invoice.*",
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A wildcard needs a backend that compares patterns to subjects. Where each subject is a queue
// of its own, name the one that is meant.
