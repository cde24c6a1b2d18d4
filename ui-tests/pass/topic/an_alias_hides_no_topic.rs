use tramline::{Payload, Topic, subscription};

#[derive(serde::Deserialize, Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

type Order = Payload<OrderPlaced>;

#[subscription(pattern = "order.*")]
async fn orders(_: Order) {}

fn main() {
    let _ = orders;
}
