use std::time::Duration;

use backends::Everything;
use tramline::Bus;

async fn end(bus: Bus<Everything>) {
    let _ = bus.stop(Duration::from_secs(5)).await;
}

fn main() {
    let _ = end;
}

// Cause: Only a running bus can be stopped. What `build` returns is not running.
