// errors: 2
use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "greeting.sent", bound = 0)]
async fn greeter() {}

#[subscription(subjcet = "invoice.raised")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: Two mistakes are two errors, in one run of the compiler.
