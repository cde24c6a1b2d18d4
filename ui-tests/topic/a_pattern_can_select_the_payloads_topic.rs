use tramline::{Payload, Topic, subscription};

#[derive(serde::Deserialize, Topic)]
#[topic(subject = "order.{region}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
}

#[subscription(pattern = "invoice.>")]
async fn orders(_: Payload<OrderPlaced<'_>>) {}

fn main() {
    let _ = orders;
}

// Cause: The payload's topic says on which subjects it travels, and the subscription selects none of
// them. Its handler would never be called.
