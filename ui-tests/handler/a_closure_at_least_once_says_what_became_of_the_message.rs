use backends::{Everything, FIVE};
use tramline::{Bus, durable, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_least_once(name!("invoices"), durable!("invoices"), FIVE)
        .subject(subject!("invoice.raised"))
        .handle(|_| async {});
}

// Cause: Under `AtLeastOnce` a message is owed until somebody says that it is done. A handler that
// returns nothing has not said so.
