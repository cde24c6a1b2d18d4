// errors: 2
use backends::FlatQueue;
use tramline::{Bus, source, subscription};

#[subscription(pattern = "greeting.*")]
async fn greeter() {}

#[subscription(pattern = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing")).subscribe(greeter).subscribe(invoices).build();
}

// Cause: Each subscription that asks for what the backend cannot do is one error. Swap the backend,
// and this is the list of what gets lost.
