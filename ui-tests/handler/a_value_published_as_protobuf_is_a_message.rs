use backends::Everything;
use serde::Serialize;
use tramline::{Bus, Protobuf, Running, subject};

#[derive(Serialize)]
struct Invoice;

async fn send(bus: Bus<Everything, Running, Protobuf>) {
    let _ = bus.publish_value(&subject!("invoice.raised"), "com.example.invoice.raised.v1", &Invoice).await;
}

fn main() {
    let _ = send;
}

// Cause: Protobuf is described by a schema, so its payloads are types that implement `prost::Message`.
// What serde derives is no help here.
