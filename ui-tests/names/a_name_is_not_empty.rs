use tramline::subscription;

#[subscription(subject = "invoice.raised", name = "")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The name of a subscription stands in logs, counters and errors. An empty one says nothing.
