use backends::Everything;
use tramline::{Bus, Running, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

fn report(bus: &Bus<Everything, Running>) {
    let _stats = bus.stats("invoices");
}

fn main() {
    let _ = (invoices, report);
}
