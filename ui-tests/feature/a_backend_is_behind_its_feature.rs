use tramline::{Bus, Nats, source};

fn main() {
    let nats = Nats::new("nats://localhost:4222");
    let _ = Bus::builder(nats, source!("urn:example:billing"));
}

// Cause: Only the in-memory backend is built unless a feature asks for more, so that nobody compiles
// the client of a broker for nothing. rustc itself finds the item that was left out, and names the
// feature.
