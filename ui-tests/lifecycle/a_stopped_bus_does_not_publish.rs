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
