use backends::Forgetful;
use tramline::{Ack, Bus, source, subscription};

#[subscription(
    subject = "invoice.raised",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 5,
)]
async fn invoices() -> Ack {
    Ack
}

fn main() {
    let _ = Bus::builder(Forgetful, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: At least once sounds as if nothing could get lost. On a backend that keeps nothing a restart
// loses what is owed, so the subscription has to say that it accepts this.
