use backends::Everything;
use tramline::{Bus, source};

mod handlers {
    #[tramline::subscription(subject = "invoice.raised")]
    async fn invoices() {}
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(handlers::invoices);
}

// Cause: The attribute makes a struct of the function's name, as visible as the function. A handler in
// another module must be visible from where the bus is built.
