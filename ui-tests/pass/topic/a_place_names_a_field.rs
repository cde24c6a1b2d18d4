use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.{region}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
    total: u64,
}

fn main() {
    let _ = OrderPlaced { region: "eu", total: 1 }.subject();
}
