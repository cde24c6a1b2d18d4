use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = "busfailure", concurrency = 8)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The attribute marks failure replies, and an event that carries it is refused when it is
// published. So it can never be a key.
