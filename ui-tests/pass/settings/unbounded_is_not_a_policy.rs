use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = 4096)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
