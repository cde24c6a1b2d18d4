use backends::AtMostOnly;
use tramline::{Bus, Event, Running, subject};

async fn send(bus: Bus<AtMostOnly, Running>, event: Event) {
    let subject = subject!("invoice.raised");
    let _ = bus.publish(&subject, event).when_room().await;
}

fn main() {
    let _ = send;
}

// Cause: Waiting for room needs to know that there is none. Through this backend a publisher never
// learns about the queues of subscribers.
