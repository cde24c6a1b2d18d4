use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices<T: Send>(_value: T) {}

fn main() {
    let _ = invoices;
}

// Cause: A subscription is one function with one name. Which type a generic one would get nobody says.
