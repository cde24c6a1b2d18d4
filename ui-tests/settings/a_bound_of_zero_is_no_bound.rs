use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = 0)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A subscription with a bound of zero could hold no message.
