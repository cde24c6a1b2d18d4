use backends::Everything;
use tramline::{Bus, Event, Running, subject};

async fn send(bus: Bus<Everything, Running>, events: Vec<Event>) {
    let subject = subject!("invoice.raised");
    let _ = bus.publish_batch(events.into_iter().map(|event| (&subject, event))).await;
}

fn main() {
    let _ = send;
}
