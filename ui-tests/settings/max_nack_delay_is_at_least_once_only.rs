use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, max_nack_delay = "1m")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
