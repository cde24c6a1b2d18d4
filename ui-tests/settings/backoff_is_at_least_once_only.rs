use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, backoff(initial = "1s", max = "1m", multiplier = 2.0))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: At most once a declined message does not come back, so there is no delay to set.
