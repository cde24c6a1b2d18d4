use backends::Everything;
use tramline::{Ack, Bus, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices() -> Ack {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: The body is the user's own code, and rustc reports it as if there were no attribute.
