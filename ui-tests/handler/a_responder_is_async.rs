use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A responder is a handler, and handlers are asynchronous.
