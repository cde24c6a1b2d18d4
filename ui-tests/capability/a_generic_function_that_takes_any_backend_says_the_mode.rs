use tramline::{Bus, contract::Backend, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

fn wire<B: Backend>(backend: B) {
    let _ = Bus::builder(backend, source!("urn:example:billing")).subscribe(invoices);
}

fn main() {
    wire(backends::Everything);
}

// Cause: `Backend` alone promises nothing, not even at most once. Name the capability that the
// subscription asks for.
