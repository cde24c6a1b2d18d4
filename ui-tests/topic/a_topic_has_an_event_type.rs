use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.placed")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}
