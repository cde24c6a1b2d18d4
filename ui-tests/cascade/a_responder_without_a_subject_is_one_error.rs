use backends::Everything;
use tramline::{Bus, Payload, responder, source};

#[responder(group = "pricing", reply = "com.example.quote.v1")]
async fn price(cents: Payload<u64>) -> u64 {
    *cents
}

fn main() {
    drop(price::call(Payload(1)));
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: What it selects has to be said. The other subscriptions of the bus are not reported along
// with it.
