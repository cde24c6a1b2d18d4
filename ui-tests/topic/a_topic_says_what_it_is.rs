use tramline::Topic;

#[derive(Topic)]
struct OrderPlaced;

fn main() {
    let _ = OrderPlaced.subject();
}
