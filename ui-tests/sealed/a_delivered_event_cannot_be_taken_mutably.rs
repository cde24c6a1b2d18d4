use backends::Everything;
use tramline::{Bus, Event, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(_event: &mut Event) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: All subscribers share the bytes of one event. Who wants another event builds one, and nobody
// else sees it.
