use tramline::{Payload, Topic, subscription};

#[derive(serde::Deserialize, Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

type Order = Payload<OrderPlaced>;

#[subscription(pattern = "order.*.placed")]
async fn orders(_: Order) {}

fn main() {
    let _ = orders;
}

// Cause: The payload's topic says on which subjects it travels, and the subscription selects none of
// them. Its handler would never be called.
