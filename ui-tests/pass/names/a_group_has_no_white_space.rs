use tramline::subscription;

#[subscription(subject = "invoice.raised", group = "billing")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
