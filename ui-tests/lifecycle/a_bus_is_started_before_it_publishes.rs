use backends::Everything;
use tramline::{Bus, Event, subject};

async fn send(bus: Bus<Everything>, event: Event) {
    let _ = bus.publish(&subject!("invoice.raised"), event).await;
}

fn main() {
    let _ = send;
}

// Cause: A dormant bus is connected to nothing. `start` gives a running one back.
