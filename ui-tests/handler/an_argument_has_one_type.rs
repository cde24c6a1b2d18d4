use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices(_value: impl Send) {}

fn main() {
    let _ = invoices;
}
