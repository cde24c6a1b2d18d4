use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() -> u32 {
    200
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: The return value of a handler is its word about the message. A number is none.
