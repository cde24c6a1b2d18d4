use tramline::subscription;

#[subscription(subject = "invoice.raised", group = "the billing")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
