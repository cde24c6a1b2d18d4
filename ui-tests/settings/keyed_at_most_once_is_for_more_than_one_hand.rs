use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = subject)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: One message at a time is in order for every key already. Keys matter where several are
// handled side by side.
