use backends::{Everything, FIVE};
use std::time::Duration;
use tramline::{Bus, durable, name, source, subject};

pub(crate) fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .max_processing_time(Duration::from_secs(60))
        .handle(|delivery| async { delivery.ack() });
}
