use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnceConfirmed)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
