use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, ack_wait = "30s")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: At most once a message is settled before its handler sees it, so there is no lease to set.
