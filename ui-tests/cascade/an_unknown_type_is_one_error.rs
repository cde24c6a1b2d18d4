use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice.raised")]
async fn invoices(_invoice: tramline::Payload<Invoice>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: The type is not in scope, and rustc says so once.
