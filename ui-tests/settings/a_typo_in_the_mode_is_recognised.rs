use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnec)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
