use tramline::Topic;

#[derive(Topic)]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}

// Cause: `#[derive(Topic)]` ties a type to a subject and an event type, and `#[topic(..)]` says which.
