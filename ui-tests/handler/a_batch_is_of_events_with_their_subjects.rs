use backends::Everything;
use tramline::{Bus, Event, Running};

async fn send(bus: Bus<Everything, Running>, events: Vec<Event>) {
    let _ = bus.publish_batch(events).await;
}

fn main() {
    let _ = send;
}
