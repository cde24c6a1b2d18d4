use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = "512")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A number is written as one, without quotes.
