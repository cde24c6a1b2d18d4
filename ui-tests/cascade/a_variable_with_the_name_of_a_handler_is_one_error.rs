use backends::Everything;
use tramline::{Bus, Running, subscription};

#[subscription(subject = "invoice.raised")]
async fn invoices() {}

fn report(bus: &Bus<Everything, Running>) {
    let invoices = bus.stats("invoices");
}

fn main() {
    let _ = (invoices, report);
}

// Cause: The attribute makes a unit struct of the function's name, and the name of a unit struct in a `let` is a pattern,
// not a new variable.
