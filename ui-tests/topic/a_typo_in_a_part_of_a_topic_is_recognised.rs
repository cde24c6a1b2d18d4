use tramline::Topic;

#[derive(Topic)]
#[topic(subjekt = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}

// Cause: The attribute has no part of that name. One that is close is suggested, and all of them are
// listed.
