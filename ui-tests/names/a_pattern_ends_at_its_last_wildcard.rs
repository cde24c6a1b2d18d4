use tramline::subscription;

#[subscription(pattern = "invoice.>.raised")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `>` is everything from there on, so nothing can come after it. A broker may take such a
// pattern and close the connection over it.
