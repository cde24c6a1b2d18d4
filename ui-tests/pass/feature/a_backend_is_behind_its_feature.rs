// features: nats
use tramline::{Bus, Nats, source};

fn main() {
    let nats = Nats::new("nats://localhost:4222");
    let _ = Bus::builder(nats, source!("urn:example:billing"));
}
