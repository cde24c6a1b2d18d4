use tramline::{Payload, Topic, subscription};

#[derive(serde::Deserialize, Topic)]
#[topic(subject = "order.{region}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
}

#[subscription(pattern = "order.>")]
async fn orders(_: Payload<OrderPlaced<'_>>) {}

fn main() {
    let _ = orders;
}
