use backends::Everything;
use serde::Deserialize;
use tramline::{Bus, Payload, Protobuf, source, subscription};

#[derive(Deserialize)]
struct Invoice;

#[subscription(subject = "invoice.raised")]
async fn invoices(_invoice: Payload<Invoice>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).codec(Protobuf).subscribe(invoices);
}

// Cause: Protobuf is described by a schema, so its payloads are types that implement `prost::Message`.
// What serde derives is no help here.
