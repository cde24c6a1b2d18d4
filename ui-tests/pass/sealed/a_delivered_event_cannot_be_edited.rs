use tramline::{Event, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices(event: &Event) {
    let _mine = event.to_builder().subject("mine").build();
}

fn main() {
    let _ = invoices;
}
