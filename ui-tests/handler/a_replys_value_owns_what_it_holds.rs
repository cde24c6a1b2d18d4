use std::time::Duration;

use backends::Everything;
use tramline::{Bus, Running, contract::RequestError, subject};

#[derive(serde::Deserialize)]
struct Price<'a>(&'a str);

async fn ask(bus: Bus<Everything, Running>) -> Result<Price<'static>, RequestError> {
    let of = subject!("price.of");
    bus.request_value(&of, "com.example.price.of.v1", "tea").within(Duration::MAX).await
}

fn main() {
    let _ = ask;
}

// Cause: The reply's event is gone when its value is returned, so the value cannot borrow from it.
// rustc says this in its own words, since it is about lifetimes.
