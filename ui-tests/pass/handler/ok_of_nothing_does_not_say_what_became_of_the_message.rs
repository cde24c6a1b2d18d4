use backends::Everything;
use tramline::{Ack, Bus, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5)]
async fn invoices() -> Result<Ack, std::io::Error> {
    Ok(Ack)
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
