use tramline::{State, subscription};

#[derive(Clone)]
struct Service;

#[subscription(subject = "invoice.raised")]
async fn invoices(State(_service): State<Service>) {}

fn main() {
    let _ = (Service, invoices);
}
