use backends::AtMostOnly;
use tramline::{Bus, Event, Running, subject};

async fn send(bus: Bus<AtMostOnly, Running>, event: Event) {
    let subject = subject!("invoice.raised");
    let _ = bus.publish(&subject, event).await;
}

fn main() {
    let _ = send;
}
