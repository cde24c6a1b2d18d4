use tramline::subscription;

#[subscription(subject = "sys.invoice")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
