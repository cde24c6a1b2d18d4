use backends::{FIVE, Forgetful};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Forgetful, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: At least once sounds as if nothing could get lost. On a backend that keeps nothing a restart
// loses what is owed, so the subscription has to say that it accepts this.
