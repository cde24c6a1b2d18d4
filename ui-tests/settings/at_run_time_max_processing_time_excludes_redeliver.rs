use backends::{Everything, FIVE};
use std::time::Duration;
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .redeliver_when_slow()
        .max_processing_time(Duration::from_secs(60))
        .handle(|delivery| async { delivery.ack() });
}

// Cause: `max_processing_time` says for how long a lease is extended. Under `Redeliver` it is not
// extended at all.
