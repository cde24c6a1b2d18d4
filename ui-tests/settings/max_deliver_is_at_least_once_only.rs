use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, max_deliver = 5)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: At most once there is one attempt.
