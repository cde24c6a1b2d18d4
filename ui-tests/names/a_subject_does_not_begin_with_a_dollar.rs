use tramline::subscription;

#[subscription(subject = "$SYS.invoice")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: Brokers keep subjects that begin with `$` for themselves.
