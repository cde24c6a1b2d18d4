use std::time::Duration;

use backends::Everything;
use tramline::{Bus, Running, contract::RequestError, subject};

struct Price;

async fn ask(bus: Bus<Everything, Running>) -> Result<Price, RequestError> {
    bus.request_value(&subject!("price.of"), "com.example.price.of.v1", "tea").within(Duration::from_secs(1)).await
}

fn main() {
    let _ = ask;
}

// Cause: The reply to a request is decoded with the bus's codec. The type does not implement what the
// codec needs.
