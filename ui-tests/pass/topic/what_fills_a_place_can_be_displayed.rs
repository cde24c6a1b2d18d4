use tramline::Topic;

struct Region;

impl std::fmt::Display for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("eu")
    }
}

#[derive(Topic)]
#[topic(subject = "order.{region}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced {
    region: Region,
}

fn main() {
    let _ = OrderPlaced { region: Region }.subject();
}
