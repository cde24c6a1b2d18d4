use tramline::subscription;

#[subscription(subject = "invoice.raised", name = "")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
