use backends::Everything;
use tramline::{Bus, Event, Running};

async fn send(bus: Bus<Everything, Running>, events: Vec<Event>) {
    let _ = bus.publish_batch(events).await;
}

fn main() {
    let _ = send;
}

// Cause: A batch is a sequence of pairs: where each event goes, and the event.
