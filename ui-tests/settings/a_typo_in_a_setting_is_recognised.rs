use tramline::subscription;

#[subscription(subjcet = "invoice.raised")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
