use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", reply = "com.example.quote.v1")]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: One request gets one reply, so only one of the running copies of a service may answer. The
// group says which ones share the requests.
