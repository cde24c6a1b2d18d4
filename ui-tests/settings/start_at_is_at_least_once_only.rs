use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, start_at = New)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
