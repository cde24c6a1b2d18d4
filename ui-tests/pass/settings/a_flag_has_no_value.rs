use tramline::subscription;

#[subscription(subject = "invoice.raised", ordered)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
