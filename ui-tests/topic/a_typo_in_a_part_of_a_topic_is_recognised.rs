use tramline::Topic;

#[derive(Topic)]
#[topic(subjekt = "order.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}
