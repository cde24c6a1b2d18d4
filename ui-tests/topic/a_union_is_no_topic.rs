use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
union OrderPlaced {
    total: u64,
}

fn main() {
    let _ = OrderPlaced { total: 1 }.subject();
}

// Cause: The fields of a union cannot be read safely, so nothing could fill the places of its subject.
