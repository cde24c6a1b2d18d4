use tramline::subscription;

#[subscription(subject = "invoice.raised", colour = "red")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The setting does not exist, and none that does is close to it.
