use std::time::Duration;

use backends::Everything;
use tramline::{Bus, Event, Running, subject};

async fn send(bus: Bus<Everything, Running>, event: Event) {
    let stopped = bus.stop(Duration::from_secs(5)).await;
    let _ = bus.publish(&subject!("invoice.raised"), event).await;
    drop(stopped);
}

fn main() {
    let _ = send;
}

// Cause: `stop` consumes the running bus, so nothing can publish on it afterwards. A `Handle` can be
// kept; through it a publish after the stop is an error.
