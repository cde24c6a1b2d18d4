use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices(_value: impl Send) {}

fn main() {
    let _ = invoices;
}

// Cause: Each argument is an extractor, picked by its type. `impl Trait` does not name one.
