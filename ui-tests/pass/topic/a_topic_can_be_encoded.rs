use backends::Everything;
use tramline::{Bus, Running, Topic};

#[derive(serde::Serialize, Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&OrderPlaced).await;
}

fn main() {
    let _ = send;
}
