use tramline::subscription;

#[subscription(subject = "invoice.raised", keyed = "source", concurrency = 8)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: Keys are extension attributes, which whoever publishes chooses. `id`, `source`, `type` and
// their like are the event's own.
