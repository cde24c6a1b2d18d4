use tramline::{Bus, Cbor, Memory, source};

fn main() {
    let _ = Bus::builder(Memory::new(), source!("urn:example:billing")).codec(Cbor);
}

// Cause: Codecs besides JSON bring crates of their own, so each is behind a feature. rustc itself
// finds the item that was left out, and names the feature.
