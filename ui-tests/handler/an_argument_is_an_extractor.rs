use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(_text: String) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A handler takes what the bus can make of a delivery: `Payload<T>`, `State<T>`, `&Event`,
// `&Subject` and others. A plain type says nothing about where its value comes from.
