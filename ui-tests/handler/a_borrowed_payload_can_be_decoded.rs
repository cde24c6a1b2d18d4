use backends::Everything;
use tramline::{Bus, Payload, source, subscription};

struct Invoice<'a>(&'a str);

#[subscription(subject = "invoice.raised")]
async fn invoices(invoice: Payload<Invoice<'_>>) {
    println!("{}", invoice.0.0);
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: The bus decodes payloads with its one codec, JSON unless it was built with another. The type
// does not implement what the codec needs.
