use tramline::subscription;

#[subscription(subject = "invoice.raised")]
async fn invoices<'a>(_subject: &'a tramline::Subject) {}

fn main() {
    let _ = invoices;
}

// Cause: Everything that a handler borrows, it borrows from the one delivery. There is nothing to tell
// apart by a name.
