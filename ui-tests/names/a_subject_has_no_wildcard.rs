use tramline::subscription;

#[subscription(subject = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A subject names one place. Wildcards select several, so they belong in a `pattern`.
