use tramline::subscription;

#[subscription(subject = "invoice.raised", overflow = prefers(ShedOldest))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
