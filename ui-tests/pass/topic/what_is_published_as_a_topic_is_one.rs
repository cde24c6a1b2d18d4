use backends::Everything;
use tramline::{Bus, Running};

#[derive(serde::Serialize, tramline::Topic)]
#[topic(subject = "invoice.raised", event_type = "com.example.invoice.raised.v1")]
struct Invoice;

async fn send(bus: Bus<Everything, Running>) {
    let _ = bus.publish_topic(&Invoice).await;
}

fn main() {
    let _ = send;
}
