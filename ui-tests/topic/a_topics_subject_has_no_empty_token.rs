use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order..placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}

// Cause: The subject of a topic keeps the rules of subjects: tokens between dots, none of them empty.
