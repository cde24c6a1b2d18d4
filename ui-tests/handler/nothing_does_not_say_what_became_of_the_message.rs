use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: Under `AtLeastOnce` a message is owed until somebody says that it is done. A handler that
// returns nothing has not said so.
