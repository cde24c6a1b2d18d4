use backends::Everything;
use tramline::{Bus, Payload, source, subscription};

#[derive(serde::Deserialize)]
struct Invoice;

#[subscription(subject = "invoice.raised")]
async fn invoices(_invoice: Payload<Invoice>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
