use tramline::subscription;

#[subscription(subject = "invoice.raised", pattern = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
