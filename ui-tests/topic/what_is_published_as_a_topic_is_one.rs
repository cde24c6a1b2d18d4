use backends::Everything;
use tramline::{Bus, Running};

#[derive(serde::Serialize)]
struct Invoice;

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&Invoice).await;
}

fn main() {
    let _ = send;
}

// Cause: `publish_topic` takes the subject and the event type from the value's type, so the type has
// to be a topic.
