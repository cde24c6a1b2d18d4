use backends::Everything;
use serde::Deserialize;
use tramline::{Bus, Cbor, Payload, source, subscription};

#[derive(Deserialize)]
struct Invoice {
    number: String,
}

#[subscription(subject = "invoice.raised")]
async fn invoices(invoice: Payload<Invoice>) {
    println!("{}", invoice.number);
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).codec(Cbor).subscribe(invoices);
}
