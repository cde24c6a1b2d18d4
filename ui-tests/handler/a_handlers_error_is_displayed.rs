use backends::Everything;
use tramline::{Bus, source, subscription};

struct Failed;

#[subscription(subject = "invoice.raised")]
async fn invoices() -> Result<(), Failed> {
    Err(Failed)
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: An error of a handler is logged and counted, and for the log it needs words.
