use backends::Everything;
use tramline::Bus;

async fn again(bus: Bus<Everything>) {
    let _ = bus.start().await;
}

fn main() {
    let _ = again;
}
