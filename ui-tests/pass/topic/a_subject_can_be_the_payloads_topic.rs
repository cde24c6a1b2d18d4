use tramline::{Payload, Topic, subscription};

#[derive(serde::Deserialize, Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

#[subscription(subject = "order.placed")]
async fn orders(_: Payload<OrderPlaced>) {}

fn main() {
    let _ = orders;
}
