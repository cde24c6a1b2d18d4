use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice..raised")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: A subject has no empty token. The other subscriptions of the bus are not reported along with
// it.
