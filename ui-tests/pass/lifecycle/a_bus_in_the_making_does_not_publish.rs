use backends::Everything;
use tramline::{Bus, Event, source, subject};

async fn send(event: Event) {
    let bus = Bus::builder(Everything, source!("urn:example:billing")).build().unwrap();
    let Ok(bus) = bus.start().await else { return };
    let _ = bus.publish(&subject!("invoice.raised"), event).await;
}

fn main() {
    let _ = send;
}
