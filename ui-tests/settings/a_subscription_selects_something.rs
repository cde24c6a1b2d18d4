use tramline::subscription;

#[subscription(bound = 512)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: Every subscription names the subject, or the pattern of subjects, that it wants.
