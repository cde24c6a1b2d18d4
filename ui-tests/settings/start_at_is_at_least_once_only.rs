use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, start_at = New)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: Only a durable identity has a position in what is kept. At most once a subscription begins
// with what is published from then on.
