use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnec)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The setting takes one of a few words, and this is none of them.
