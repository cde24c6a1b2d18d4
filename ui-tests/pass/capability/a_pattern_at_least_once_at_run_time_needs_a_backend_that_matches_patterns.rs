use backends::{Everything, FIVE};
use tramline::{Bus, durable, name, pattern, source};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .pattern(pattern!("invoice.*"))
        .handle(|delivery| async { delivery.ack() });
}
