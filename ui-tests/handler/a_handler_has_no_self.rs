use tramline::subscription;

struct Service;

impl Service {
    #[subscription(subject = "invoice.raised")]
    async fn invoices(&self) {}
}

fn main() {
    let _ = Service;
}
