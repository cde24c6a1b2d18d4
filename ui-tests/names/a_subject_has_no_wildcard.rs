use tramline::subscription;

#[subscription(subject = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
