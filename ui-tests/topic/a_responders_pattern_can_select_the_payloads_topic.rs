use tramline::{Event, Payload, Topic, responder};

#[derive(serde::Deserialize, Topic)]
#[topic(subject = "price.{item}.ask", event_type = "com.example.price.ask.v1")]
struct Ask<'a> {
    item: &'a str,
}

#[responder(pattern = "stock.>", group = "pricing")]
async fn price(_: Payload<Ask<'_>>, event: &Event) -> Event {
    event.clone()
}

fn main() {
    let _ = price;
}

// Cause: The payload's topic says on which subjects it travels, and the subscription selects none of
// them. Its handler would never be called.
