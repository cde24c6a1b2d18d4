use tramline::subscription;

#[subscription(pattern = "invoice.>.raised")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
