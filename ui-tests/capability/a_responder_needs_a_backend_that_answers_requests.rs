use backends::AtMostOnly;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A responder sends a reply to whoever asked, which not every backend can carry.
