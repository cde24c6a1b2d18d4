use std::time::Duration;

use backends::AtMostOnly;
use tramline::{Handle, contract::RequestError, subject};

async fn ask(handle: Handle<AtMostOnly>) -> Result<u64, RequestError> {
    handle.request_value(&subject!("price.of"), "com.example.price.of.v1", "tea").within(Duration::from_secs(1)).await
}

fn main() {
    let _ = ask;
}

// Cause: A request needs a way back for its reply, which not every backend has.
