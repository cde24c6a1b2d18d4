use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "greeting.sent")]
async fn greeter() {}

#[subscription(subject = "invoice.raised")]
async fn invoices<T: Send + 'static>(_value: T) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: A handler has one type for each argument. The other subscriptions of the bus are not reported
// along with it.
