use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnce, allow_volatile)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
