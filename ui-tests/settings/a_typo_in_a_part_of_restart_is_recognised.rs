use tramline::subscription;

#[subscription(subject = "invoice.raised", restart(max_restart = 5))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
