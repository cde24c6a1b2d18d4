use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = 0)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
