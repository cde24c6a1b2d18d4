use tramline::subscription;

#[subscription(subject = "invoice.raised", pattern = "invoice.*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `subject` is one subject and `pattern` a set of them. A subscription has one of the two.
