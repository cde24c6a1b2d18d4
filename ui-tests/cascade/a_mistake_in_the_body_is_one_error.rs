use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice.raised")]
async fn invoices() {
    let _: u32 = "text";
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: The body is the user's own code, and rustc reports it as if there were no attribute.
