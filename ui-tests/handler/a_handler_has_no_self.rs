use tramline::subscription;

struct Service;

impl Service {
    #[subscription(subject = "invoice.raised")]
    async fn invoices(&self) {}
}

fn main() {
    let _ = Service;
}

// Cause: A handler is registered by its name and called with what it takes from the delivery and from
// the bus's state. There is no object to call it on.
