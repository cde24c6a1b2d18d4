use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, slow_handler = Redeliver)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
