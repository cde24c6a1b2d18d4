use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = "busfailure", concurrency = 8)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
