use std::time::Duration;

use backends::Everything;
use tramline::{Bus, Event, Running, subject};

async fn ask(bus: Bus<Everything, Running>, event: Event) {
    let _ = bus.request(&subject!("price.of"), event).within(Duration::from_secs(1)).await;
}

fn main() {
    let _ = ask;
}
