// errors: 2
use tramline::{Bus, source};

fn main() {
    let _ = Bus::builder("nats://localhost", source!("urn:example:billing"));
}

// Cause: The first argument of `Bus::builder` is a backend, a value of a type that implements
// `Backend`. An address is something that one is made of.
