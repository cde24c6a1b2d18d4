use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.in-{region}", event_type = "com.example.order.placed.v1")]
struct OrderPlaced<'a> {
    region: &'a str,
}

fn main() {
    let _ = OrderPlaced { region: "eu" }.subject();
}

// Cause: A place stands for one whole token, so that what is between two dots is either written or
// filled in.
