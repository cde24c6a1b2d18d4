use tramline::source;

fn main() {
    let _ = source!("urn:example:the billing");
}

// Cause: The source of an event is a URI-reference in CloudEvents, and those have no spaces in them.
