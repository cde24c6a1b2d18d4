use tramline::subscription;

#[subscription(subject = "invoice.raised")]
struct Invoices;

fn main() {
    let _ = Invoices;
}
