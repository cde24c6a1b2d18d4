use backends::Everything;
use tramline::{Bus, source};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(|_| async {});
}

// Cause: `.subscribe(..)` takes a function with `#[subscription]`, which brings its settings. A
// closure has none, so it comes at the end of a builder that has them.
