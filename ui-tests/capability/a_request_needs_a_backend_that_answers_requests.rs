use std::time::Duration;

use backends::AtMostOnly;
use tramline::{Bus, Event, Running, subject};

async fn ask(bus: Bus<AtMostOnly, Running>, event: Event) {
    let _ = bus.request(&subject!("price.of"), event).within(Duration::from_secs(1)).await;
}

fn main() {
    let _ = ask;
}

// Cause: A request needs a way back for its reply, which not every backend has.
