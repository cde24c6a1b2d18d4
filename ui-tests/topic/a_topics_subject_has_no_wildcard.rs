use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.{region}.*", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
}

fn main() {
    let _ = OrderPlaced { region: "eu" }.subject();
}

// Cause: A topic says where its events go, which is one subject for each event. A token that differs
// from event to event is a place, `{field}`.
