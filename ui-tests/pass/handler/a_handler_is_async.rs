use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
