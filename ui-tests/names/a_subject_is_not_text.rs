use backends::Everything;
use tramline::{Bus, Event, Running};

async fn send(bus: Bus<Everything, Running>, event: Event) {
    let _ = bus.publish("invoice.raised", event).await;
}

fn main() {
    let _ = send;
}

// Cause: A subject is checked once, where it is made, and not at each publish. Hence a type of its
// own.
