use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed, concurrency = 8)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `keyed` keeps the messages of one key in order, and has to know what the key is.
