use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, allow_volatile)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `allow_volatile` accepts that a restart loses what is owed. At most once nothing is owed.
