use tramline::subscription;

#[subscription(subject = "invoice.raised", concurrency = 1)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
