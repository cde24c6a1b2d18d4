use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delivery, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(_delivery: Delivery<AtLeastOnce>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: The mode is at most once unless it is written, and a delivery is of the mode of its
// subscription.
