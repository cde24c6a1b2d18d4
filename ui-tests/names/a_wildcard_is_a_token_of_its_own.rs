use tramline::subscription;

#[subscription(pattern = "invoice.r*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
