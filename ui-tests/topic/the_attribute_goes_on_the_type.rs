use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.{region}", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    #[topic(token)]
    region: &'a str,
}

fn main() {
    let _ = OrderPlaced { region: "eu" }.subject();
}

// Cause: A field needs no mark: the subject names it.
