use tramline::subscription;

#[subscription(subject = "invoice.raised", concurrency = 0)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `concurrency` is the number of messages that are handled side by side, and with zero there is
// none.
