use backends::FlatQueue;
use tramline::{Bus, responder, source};

#[responder(pattern = "price.*", group = "pricing", reply = "com.example.quote.v1")]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A wildcard needs a backend that compares patterns to subjects. Where each subject is a queue
// of its own, name the one that is meant.
