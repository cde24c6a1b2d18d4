use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price() -> Result<(), String> {
    Ok(())
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: Whoever asked waits for a reply. A function that has none to give is a subscription.
