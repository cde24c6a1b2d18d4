use backends::FlatQueue;
use tramline::{Bus, name, pattern, source};

fn main() {
    let _ = Bus::builder(FlatQueue, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .pattern(pattern!("invoice.*"))
        .handle(|_| async {});
}
