use backends::Everything;
use tramline::{AtMostOnce, Bus, Delivery, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price(_delivery: Delivery<AtMostOnce>) -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A delivery is settled, and a request is not: what a responder returns is its reply.
