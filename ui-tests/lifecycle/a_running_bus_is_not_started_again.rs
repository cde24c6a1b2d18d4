use backends::Everything;
use tramline::{Bus, Running};

async fn again(bus: Bus<Everything, Running>) {
    let _ = bus.start().await;
}

fn main() {
    let _ = again;
}
