use tramline::group;

fn main() {
    let _ = group!("billing.workers");
}

// Cause: The name of a group goes to the broker, and this is what brokers accept.
