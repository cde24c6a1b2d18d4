use tramline::contract::Capabilities;

fn main() {
    let _ = Capabilities(());
}

// Cause: The table is read from the traits that the backend implements, so that it cannot say anything
// else.
