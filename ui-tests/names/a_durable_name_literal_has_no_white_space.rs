use tramline::durable;

fn main() {
    let _ = durable!("the invoices");
}

// Cause: A durable name becomes the name of something at a broker, a consumer or a queue. Brokers
// differ in what they accept, and this is what all of them do.
