use backends::Everything;
use tramline::{Bus, Delivery, responder, source, subscription::Answering};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price(_delivery: Delivery<Answering>) -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A request has one attempt, and what a responder returns is its reply. There is no attempt to
// count and nothing to settle.
