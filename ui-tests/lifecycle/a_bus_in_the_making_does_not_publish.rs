use backends::Everything;
use tramline::{Bus, Event, source, subject};

async fn send(event: Event) {
    let bus = Bus::builder(Everything, source!("urn:example:billing"));
    let _ = bus.publish(&subject!("invoice.raised"), event).await;
}

fn main() {
    let _ = send;
}

// Cause: A builder is not a bus yet: it has no connection. Build it, start it, publish.
