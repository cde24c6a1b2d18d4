use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.{region}.*", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
}

fn main() {
    let _ = OrderPlaced { region: "eu" }.subject();
}
