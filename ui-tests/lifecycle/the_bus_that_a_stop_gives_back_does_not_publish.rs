use std::time::Duration;

use backends::Everything;
use tramline::{Bus, Event, Running, subject};

async fn send(bus: Bus<Everything, Running>, event: Event) {
    let bus = bus.stop(Duration::from_secs(5)).await.bus;
    let _ = bus.publish(&subject!("invoice.raised"), event).await;
}

fn main() {
    let _ = send;
}

// Cause: A stop gives the dormant bus back, with its ledger, to be read or started again. It is
// connected to nothing.
