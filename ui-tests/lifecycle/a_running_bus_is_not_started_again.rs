use backends::Everything;
use tramline::{Bus, Running};

async fn again(bus: Bus<Everything, Running>) {
    let _ = bus.start().await;
}

fn main() {
    let _ = again;
}

// Cause: A bus runs once at a time. Stop it, and start what the stop gives back.
