use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: `Ok(())` says that nothing failed, which is not the same as saying that the message is done.
// Under `AtLeastOnce` a handler says the second.
