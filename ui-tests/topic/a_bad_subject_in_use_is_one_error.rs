use backends::Everything;
use tramline::{Bus, Payload, Running, Topic, subscription};

#[derive(serde::Serialize, serde::Deserialize, Topic)]
#[topic(subject = "order.placed.", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

#[subscription(pattern = "order.>")]
async fn orders(_: Payload<OrderPlaced>) {}

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&OrderPlaced).await;
}

fn main() {
    let _ = (orders, send);
}

// Cause: The subject of a topic keeps the rules of subjects: tokens between dots, none of them empty.
