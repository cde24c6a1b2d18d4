use tramline::subscription;

#[subscription(subject = "invoice.raised", overflow = ShedOldest)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
