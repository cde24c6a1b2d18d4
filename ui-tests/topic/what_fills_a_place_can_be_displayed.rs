use tramline::Topic;

struct Region;

#[derive(Topic)]
#[topic(subject = "order.{region}.placed", event_type = "com.example.order.placed.v1")]
struct OrderPlaced {
    region: Region,
}

fn main() {
    let _ = OrderPlaced { region: Region }.subject();
}

// Cause: What fills a place becomes text in the subject, and `Display` says how it is written.
