use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, max_processing_time = "1m")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
