use tramline::{Ack, Bus, contract::DeliversAtLeastOnce, source, subscription};

#[subscription(subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5, slow_handler = Redeliver)]
async fn invoices() -> Ack {
    Ack
}

fn wire<B: DeliversAtLeastOnce>(backend: B) {
    let _ = Bus::builder(backend, source!("urn:example:billing")).subscribe(invoices);
}

fn main() {
    wire(backends::Everything);
}

// Cause: In a generic function the compiler knows of the backend what the bounds say, and no more.
// What a subscription asks for belongs among them.
