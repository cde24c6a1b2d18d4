use backends::Everything;
use tramline::{Bus, State, source, subscription};

struct Db;

#[subscription(subject = "invoice.raised")]
async fn invoices(State(_db): State<Db>) {}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).state(Db).subscribe(invoices);
}

// Cause: Each message gets a clone of what its handler takes as `State`. Put what is large into an `Arc`, or take a part of
// the state by implementing `FromState`.
