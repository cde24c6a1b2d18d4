use std::time::Duration;

use backends::{Everything, FIVE};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .max_nack_delay(Duration::from_secs(60))
        .handle(|delivery| async move { delivery.nack_after(Duration::from_secs(10)) });
}
