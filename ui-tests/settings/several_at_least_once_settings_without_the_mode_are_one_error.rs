use tramline::subscription;

#[subscription(subject = "invoice.raised", durable = "invoices", max_deliver = 5)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The mode is at most once unless it is written. These settings belong to the other one.
