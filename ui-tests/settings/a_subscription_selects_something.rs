use tramline::subscription;

#[subscription(bound = 512)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
