use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.{regoin}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
    total: u64,
}

fn main() {
    let _ = OrderPlaced { region: "eu", total: 1 }.subject();
}

// Cause: A place is filled from the field of its name, and the type has none of that name.
