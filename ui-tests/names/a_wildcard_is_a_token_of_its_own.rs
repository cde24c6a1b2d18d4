use tramline::subscription;

#[subscription(pattern = "invoice.r*")]
async fn invoices() {}

fn main() {
    let _ = invoices;
}

// Cause: `*` stands for one whole token and `>` for all that follow. Beside another character a broker
// takes it for a letter, and the pattern never matches.
