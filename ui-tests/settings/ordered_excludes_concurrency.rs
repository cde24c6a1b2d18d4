use tramline::subscription;

#[subscription(subject = "invoice.raised", ordered, concurrency = 4)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
