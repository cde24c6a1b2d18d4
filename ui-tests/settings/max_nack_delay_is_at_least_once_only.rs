use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, max_nack_delay = "1m")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: At most once a declined message does not come back, so there is no delay to set.
