use std::rc::Rc;

use backends::Everything;
use tramline::{Bus, source, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {
    let shared = Rc::new(1);
    tokio::task::yield_now().await;
    drop(shared);
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(invoices);
}

// Cause: Handlers run on any thread of the runtime, so what they hold over an `.await` must be `Send`.
// The error names the value and the await.
