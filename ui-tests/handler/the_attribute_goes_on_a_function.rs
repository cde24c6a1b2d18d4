use tramline::subscription;

#[subscription(subject = "invoice.raised")]
struct Invoices;

fn main() {
    let _ = Invoices;
}

// Cause: A subscription is made of a function, which is what gets called.
