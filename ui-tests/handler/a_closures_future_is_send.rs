use std::rc::Rc;

use backends::Everything;
use tramline::{Bus, name, source, subject};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .subject(subject!("invoice.raised"))
        .handle(|_| async {
            let shared = Rc::new(1);
            tokio::task::yield_now().await;
            drop(shared);
        });
}

// Cause: Handlers run on any thread of the runtime, so what they hold over an `.await` must be `Send`.
// The error names the value and the await.
