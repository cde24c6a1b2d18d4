use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.placed", event_type = "")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}
