use tramline::subscription;

#[subscription(pattern = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
