use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
