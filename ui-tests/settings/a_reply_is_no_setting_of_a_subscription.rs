use tramline::subscription;

#[subscription(subject = "price.ask", reply = "com.example.quote.v1")]
async fn price() {}

fn main() {
    let _ = price;
}

// Cause: A subscription does not reply. A function that answers requests is a responder.
