use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, durable = "invoices")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A durable name keeps what is owed to a subscription. At most once nothing is owed; to share
// messages with other processes, join a group.
