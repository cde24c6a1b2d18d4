use backends::FlatQueue;
use tramline::{Bus, source, subscription};

#[subscription(
    pattern = "invoice.*",
)]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing")).subscribe(invoices);
}
