use backends::Everything;
use serde::Deserialize;
use tramline::{Bus, Cbor, Payload, source, subscription};

#[derive(Deserialize)]
struct Invoice<'a> {
    number: &'a str,
}

#[subscription(subject = "invoice.raised")]
async fn invoices(invoice: Payload<Invoice<'_>>) {
    println!("{}", invoice.number);
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).codec(Cbor).subscribe(invoices);
}

// Cause: JSON can lend a handler text out of the event, CBOR cannot: its decoder makes new values.
// rustc says this in its own words, since it is about lifetimes.
