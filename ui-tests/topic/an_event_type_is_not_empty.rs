use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.placed", event_type = "")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}

// Cause: Every CloudEvent has a type, and an empty one says nothing.
