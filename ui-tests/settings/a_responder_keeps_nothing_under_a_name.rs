use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1", durable = "pricing")]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A durable name keeps messages for a consumer that is away. A request whose deadline has
// passed is worth nothing to anybody.
