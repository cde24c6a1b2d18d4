use tramline::subscription;

#[subscription(subject = "invoice.raised", concurrency = 0)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
