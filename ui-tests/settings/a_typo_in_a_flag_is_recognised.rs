use tramline::subscription;

#[subscription(subject = "invoice.raised", orderd)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
