use tramline::contract::{Persistent, Storage};

fn main() {
    const { assert!(Persistent::PERSISTENT) };
}
