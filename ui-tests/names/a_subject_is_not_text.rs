use backends::Everything;
use tramline::{Bus, Event, Running};

async fn send(bus: Bus<Everything, Running>, event: Event) {
    let _ = bus.publish("invoice.raised", event).await;
}

fn main() {
    let _ = send;
}
