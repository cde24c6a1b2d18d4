use tramline::subscription;

#[subscription(subject = "invoice.raised", group = 7)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The setting is a name, and names are texts.
