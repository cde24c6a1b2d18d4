use backends::FlatQueue;
use tramline::{Bus, Running, subscription};

#[subscription(pattern = "invoice.*")]
async fn invoices() {}

async fn attach(bus: Bus<FlatQueue, Running>) {
    let _ = bus.subscribe(invoices).await;
}

fn main() {
    let _ = attach;
}

// Cause: A subscription that is added to a running bus asks its backend for as much as one that is
// there from the start.
