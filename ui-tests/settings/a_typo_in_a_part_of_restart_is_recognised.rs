use tramline::subscription;

#[subscription(subject = "invoice.raised", restart(max_restart = 5))]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The setting has parts, and none of that name. A name that is close to one that exists is
// suggested.
