use std::sync::Arc;

use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|_| async {
            let shared = Arc::new(1);
            tokio::task::yield_now().await;
            drop(shared);
        });
}
