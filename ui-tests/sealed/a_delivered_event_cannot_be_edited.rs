use tramline::{Event, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(event: &Event) {
    event.set_subject("mine");
}

fn main() {
    let _ = invoices;
}

// Cause: All subscribers share the bytes of one event. Who wants another event builds one, and nobody
// else sees it.
