use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = unbounded)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A queue without a bound ends when the memory does. Choose a number, or take the default.
