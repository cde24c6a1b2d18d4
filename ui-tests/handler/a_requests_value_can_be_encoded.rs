use std::time::Duration;

use backends::Everything;
use tramline::{Bus, Running, contract::RequestError, subject};

struct Article;

async fn ask(bus: Bus<Everything, Running>) -> Result<u64, RequestError> {
    bus.request_value(&subject!("price.of"), "com.example.price.of.v1", &Article).within(Duration::from_secs(1)).await
}

fn main() {
    let _ = ask;
}

// Cause: The bus encodes values with its one codec, JSON unless it was built with another. The type
// does not implement what the codec needs.
