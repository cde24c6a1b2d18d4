use backends::Everything;
use tramline::{Bus, Event, Running, pattern};

async fn send(bus: Bus<Everything, Running>, event: Event) {
    let _ = bus.publish(&pattern!("invoice.*"), event).await;
}

fn main() {
    let _ = send;
}

// Cause: A publish goes to one subject. A pattern selects many, and is for those who subscribe.
