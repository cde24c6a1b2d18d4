use tramline::subscription;

#[subscription(subject = "invoice.raised")]
fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: Handlers wait for databases and for other services, and the bus waits for handlers. So they
// are all asynchronous, those too that never wait.
