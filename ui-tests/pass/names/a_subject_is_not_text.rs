use backends::Everything;
use tramline::{Bus, Event, Running, subject};

async fn send(bus: Bus<Everything, Running>, event: Event) {
    let _ = bus.publish(&subject!("invoice.raised"), event).await;
}

fn main() {
    let _ = send;
}
