use backends::Everything;
use tramline::{Bus, Event, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price(_event: &Event) -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}
