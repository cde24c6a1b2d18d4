use tramline::subscription;

#[subscription(subject = "invoice.raised", name = "invoices")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
