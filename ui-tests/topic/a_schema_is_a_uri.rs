use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1", schema = "order.json")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}

// Cause: `schema` becomes the event's `dataschema`, which is an absolute URI in CloudEvents.
