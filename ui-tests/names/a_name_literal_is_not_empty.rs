use tramline::name;

fn main() {
    let _ = name!("");
}

// Cause: The name of a subscription stands in logs, counters and errors. An empty one says nothing.
