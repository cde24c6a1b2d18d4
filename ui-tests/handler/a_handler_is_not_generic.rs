use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices<T: Send>(_value: T) {}

fn main() {
    let _ = invoices;
}
