use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(
    subject = "price.ask",
    group = "pricing",
    reply = "com.example.quote.v1",
    mode = AtLeastOnce,
    durable = "pricing",
    max_deliver = 5,
)]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A request is answered now or not at all, and whoever asked tries again. So a responder has no
// delivery mode and none of its settings.
