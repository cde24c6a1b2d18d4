use backends::AtLeastOnly;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(AtLeastOnly, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: At most once is a promise too: one attempt, whatever happens. A backend that may deliver a
// message twice does not give it.
