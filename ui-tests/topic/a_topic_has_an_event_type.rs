use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "order.placed")]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}

// Cause: Who receives an event tells its kind by its type. There is no default, since a type is a
// promise to others.
