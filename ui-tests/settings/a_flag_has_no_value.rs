use tramline::subscription;

#[subscription(subject = "invoice.raised", ordered = true)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `ordered` is a flag: it stands there, or it does not.
