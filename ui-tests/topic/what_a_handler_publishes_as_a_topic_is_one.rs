use tramline::{Publisher, subscription};

#[derive(serde::Serialize)]
struct Invoice;

#[subscription(subject = "order.placed")]
async fn orders(publisher: Publisher) {
    let _ = publisher.publish_topic(&Invoice).await;
}

fn main() {
    let _ = orders;
}

// Cause: `publish_topic` takes the subject and the event type from the value's type, so the type has
// to be a topic.
