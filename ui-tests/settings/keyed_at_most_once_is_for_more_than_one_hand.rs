use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = subject)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
