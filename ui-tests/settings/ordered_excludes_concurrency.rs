use tramline::subscription;

#[subscription(subject = "invoice.raised", ordered, concurrency = 4)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: Messages that are handled side by side finish in any order. Keep one at a time, or keep order
// for each key alone.
