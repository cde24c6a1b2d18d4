use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = 1)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
