use backends::Everything;
use tramline::{Bus, source, subscription};

struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the disk is full")
    }
}

#[subscription(subject = "invoice.raised")]
async fn invoices() -> Result<(), Failed> {
    Err(Failed)
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}
