use backends::Shuffled;
use tramline::{Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    ordered,
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Shuffled, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: `ordered` asks for the messages of one subject as they were published, and this backend does
// not promise that.
