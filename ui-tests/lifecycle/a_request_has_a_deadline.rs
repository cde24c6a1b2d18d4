use backends::Everything;
use tramline::{Bus, Event, Running, subject};

async fn ask(bus: Bus<Everything, Running>, event: Event) {
    let _ = bus.request(&subject!("price.of"), event).await;
}

fn main() {
    let _ = ask;
}

// Cause: A reply may never come. A request without a deadline would wait for it for ever.
