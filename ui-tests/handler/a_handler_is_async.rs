use tramline::subscription;

#[subscription(subject = "invoice.raised")]
fn invoices() {}

fn main() {
    let _ = invoices;
}
