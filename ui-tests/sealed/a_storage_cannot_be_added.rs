use tramline::contract::Storage;

struct Replicated;

impl Storage for Replicated {
    const PERSISTENT: bool = true;
}

fn main() {}

// Cause: Storage is what a restart leaves: nothing, or everything that is owed. The suite proves both,
// and could not prove a third.
