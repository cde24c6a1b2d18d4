use backends::Everything;
use tramline::{AtMostOnce, Bus, Delivery, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(_delivery: Delivery<AtMostOnce>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
