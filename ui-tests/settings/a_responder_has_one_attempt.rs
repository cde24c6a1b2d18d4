use backends::Everything;
use tramline::{Bus, responder, source};

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1", max_deliver = 5)]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:pricing")).subscribe(price);
}

// Cause: A request that comes to nothing is reported to whoever asked, who decides whether to try
// again. There is no second attempt to count.
