use backends::AtMostOnly;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    overflow = ShedNewest,
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: What happens at the bound is done by the backend, and this one does not have the policy. With
// `prefer(..)` it is used where it is offered, and the bus lists what was dropped.
