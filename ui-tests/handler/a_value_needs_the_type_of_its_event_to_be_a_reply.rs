use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", group = "pricing")]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A reply travels as an event, and an event has a type. A value alone does not say which.
