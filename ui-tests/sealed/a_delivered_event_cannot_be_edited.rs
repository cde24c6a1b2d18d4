use tramline::{Event, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(event: &Event) {
    event.set_subject("mine");
}

fn main() {
    let _ = invoices;
}
