use backends::Everything;
use tramline::{Bus, Payload, Running, Topic, subscription};

#[derive(serde::Serialize, serde::Deserialize, Topic)]
#[topic(subject = "order.{region}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
}

#[subscription(pattern = "order.>")]
async fn orders(_: Payload<OrderPlaced<'_>>) {}

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&OrderPlaced { region: "eu" }).await;
}

fn main() {
    let _ = (orders, send);
}
