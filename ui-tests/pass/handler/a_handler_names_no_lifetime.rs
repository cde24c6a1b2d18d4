use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices(_subject: &tramline::Subject) {}

fn main() {
    let _ = invoices;
}
