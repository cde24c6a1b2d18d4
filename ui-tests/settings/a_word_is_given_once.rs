use tramline::subscription;

#[subscription(subject = "invoice.raised", bound = 512, bound = 256)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}
