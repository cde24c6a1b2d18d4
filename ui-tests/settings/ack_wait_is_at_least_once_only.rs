use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, ack_wait = "30s")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
