use tramline::{Publisher, subscription};

#[derive(serde::Serialize, tramline::Topic)]
#[topic(subject = "invoice.raised", event_type = "com.example.invoice.raised.v1")]
struct Invoice;

#[subscription(subject = "order.placed")]
async fn orders(publisher: Publisher) {
    let _ = publisher.publish_topic(&Invoice).await;
}

fn main() {
    let _ = orders;
}
