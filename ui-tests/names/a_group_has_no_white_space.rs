use tramline::subscription;

#[subscription(subject = "invoice.raised", group = "the billing")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The name of a group goes to the broker, and this is what brokers accept.
