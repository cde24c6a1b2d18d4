use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = "partitionKey", concurrency = 8)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A key is an extension attribute of the event, and CloudEvents allows lower case letters and
// digits in their names.
