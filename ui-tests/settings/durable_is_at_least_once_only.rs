use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, durable = "invoices")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
