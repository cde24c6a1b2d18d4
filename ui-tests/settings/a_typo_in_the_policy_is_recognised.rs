use tramline::subscription;

#[subscription(subject = "invoice.raised", overflow = ShedOldset)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
