use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = partitionkey, concurrency = 8)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: The word `subject` means the subject of the message. Every other key is the name of an
// extension attribute, and names are texts.
