use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = 512, bound = 256)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A setting that is given twice has two values, and nobody can tell which was meant.
