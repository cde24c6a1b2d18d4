use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription("invoice.raised")]
async fn invoices() {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices).build();
}

// Cause: Every setting has a name, the subject too, since there is more than one text that it could be.
