use backends::Everything;
use tramline::{Bus, source};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).build();
}
