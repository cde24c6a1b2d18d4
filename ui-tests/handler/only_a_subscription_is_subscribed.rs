use backends::Everything;
use tramline::{Bus, source};

async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: A plain function has no subject and no settings. The attribute gives it both.
