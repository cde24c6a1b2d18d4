use tramline::subscription;

#[subscription(subject = "invoice.raised", restart(max_restarts = 5))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
