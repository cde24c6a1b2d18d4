use backends::Everything;
use tramline::{Bus, responder, source};

struct Failed;

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price() -> Result<u64, Failed> {
    Err(Failed)
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: An error of a responder is logged, and for that it needs words. Whoever asked gets a failure
// reply that does not show them.
