use backends::Everything;
use tramline::{Bus, State, source, subscription};

#[derive(Clone)]
struct Db;

#[subscription(subject = "invoice.raised")]
async fn invoices(State(_db): State<Db>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).state(Db).subscribe(invoices);
}
