use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices<'a>(_subject: &'a tramline::Subject) {}

fn main() {
    let _ = invoices;
}
