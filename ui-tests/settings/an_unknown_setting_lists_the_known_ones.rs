use tramline::subscription;

#[subscription(subject = "invoice.raised", colour = "red")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
