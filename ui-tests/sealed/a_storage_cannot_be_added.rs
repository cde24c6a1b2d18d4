use tramline::contract::Storage;

struct Replicated;

impl Storage for Replicated {
    const PERSISTENT: bool = true;
}

fn main() {}
