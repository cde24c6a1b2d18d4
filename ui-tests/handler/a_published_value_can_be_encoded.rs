use backends::Everything;
use tramline::{Bus, Running, subject};

struct Invoice;

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_value(&subject!("invoice.raised"), "com.example.invoice.raised.v1", &Invoice).await;
}

fn main() {
    let _ = send;
}

// Cause: The bus encodes values with its one codec, JSON unless it was built with another. The type
// does not implement what the codec needs.
