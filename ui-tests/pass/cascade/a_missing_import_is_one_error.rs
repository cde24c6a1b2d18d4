use backends::Everything;
use tramline::{Bus, source};

mod handlers {
    #[tramline::subscription(subject = "invoice.raised")]
    pub(crate) async fn invoices() {}
}

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing")).subscribe(handlers::invoices);
}
