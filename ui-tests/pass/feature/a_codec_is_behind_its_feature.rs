// features: cbor
use tramline::{Bus, Cbor, Memory, source};

fn main() {
    let _ = Bus::builder(Memory::new(), source!("urn:example:billing")).codec(Cbor);
}
