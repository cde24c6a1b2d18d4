use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, backoff(initial = "1s", max = "1m", multiplier = 2.0))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
