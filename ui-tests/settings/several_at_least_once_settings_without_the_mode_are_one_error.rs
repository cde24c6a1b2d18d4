use tramline::subscription;

#[subscription(subject = "invoice.raised", durable = "invoices", max_deliver = 5)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
