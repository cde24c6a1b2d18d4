// errors: 2
use tramline::{Bus, source};

fn main() {
    let _ = Bus::builder("nats://localhost", source!("urn:example:billing"));
}
