use tramline::subscription;

#[subscription(subject = "invoice.raised", overflow = prefer(ShedOldest))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
