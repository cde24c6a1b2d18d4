use backends::Everything;
use tramline::{AtLeastOnce, Bus, Delivery, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(_delivery: Delivery<AtLeastOnce>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
