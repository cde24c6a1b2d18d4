use backends::Everything;
use tramline::{Bus, name, source};

fn main() {
    let _ = Bus::builder(Everything, source!("urn:example:billing"))
        .at_most_once(name!("invoices"))
        .handle(|_| async {});
}
