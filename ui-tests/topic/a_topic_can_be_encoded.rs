use backends::Everything;
use tramline::{Bus, Running, Topic};

#[derive(Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&OrderPlaced).await;
}

fn main() {
    let _ = send;
}

// Cause: A topic is published as a value, so the bus's codec must be able to encode it.
