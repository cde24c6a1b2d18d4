use backends::Everything;
use tramline::{Bus, Payload, Running, Topic, subscription};

#[derive(serde::Serialize, serde::Deserialize, Topic)]
#[topic(subject = "order.{region}.placed")]
struct OrderPlaced<'a> {
    region: &'a str,
}

#[subscription(pattern = "invoice.>")]
async fn orders(_: Payload<OrderPlaced<'_>>) {}

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&OrderPlaced { region: "eu" }).await;
}

fn main() {
    let _ = (orders, send);
}

// Cause: Who receives an event tells its kind by its type. There is no default, since a type is a
// promise to others.
