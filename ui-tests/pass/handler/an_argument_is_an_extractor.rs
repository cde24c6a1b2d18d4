use backends::Everything;
use tramline::{Bus, Payload, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(_text: Payload<String>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
