use tramline::subscription;

#[subscription(subject = "invoice.raised", orderd)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The setting does not exist. A name that is close to one that does is suggested, and all of
// them are listed.
