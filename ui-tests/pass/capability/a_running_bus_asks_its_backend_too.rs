use backends::FlatQueue;
use tramline::{Bus, Running, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

async fn attach(bus: Bus<FlatQueue, Running>) {
    let _ = bus.subscribe(invoices).await;
}

fn main() {
    let _ = attach;
}
