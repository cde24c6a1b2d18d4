use backends::{FlatQueue, FIVE};
use tramline::{Bus, durable, name, pattern, source};

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .pattern(pattern!("invoice.*"))
        .handle(|delivery| async { delivery.ack() });
}
