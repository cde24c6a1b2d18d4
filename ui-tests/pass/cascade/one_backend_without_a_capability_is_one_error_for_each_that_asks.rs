use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(pattern = "greeting.*")]
async fn greeter() {}

#[subscription(pattern = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}
