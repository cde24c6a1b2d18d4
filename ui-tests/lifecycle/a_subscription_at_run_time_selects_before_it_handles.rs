use backends::Everything;
use tramline::{Bus, name, source};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .handle(|_| async {});
}

// Cause: A subscription of a builder begins with what it selects: `.subject(..)` or `.pattern(..)`.
