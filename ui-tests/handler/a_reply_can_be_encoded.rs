use backends::Everything;
use tramline::{Bus, responder, source};

struct Quote {
    cents: u64,
}

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price() -> Quote {
    Quote { cents: 250 }
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A reply is a value that the bus's codec encodes. The type does not implement what the codec
// needs.
