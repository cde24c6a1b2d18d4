use tramline::subscription;

#[subscription(subject = "invoice..raised")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A subject is tokens between dots. A broker may take an empty one, and nobody would get the
// message.
