use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = unbounded)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
