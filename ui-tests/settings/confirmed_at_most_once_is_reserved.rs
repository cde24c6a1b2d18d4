use tramline::subscription;

#[subscription(subject = "invoice.raised", mode = AtMostOnceConfirmed)]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: A mode of that name may come one day. The word is kept free so that it means what it says
// when it does.
