use tramline::{contract::Overflow, subscription::OverflowPolicy};

struct ShedRandom;

impl OverflowPolicy for ShedRandom {
    const OVERFLOW: Overflow = Overflow::ShedOldest;
}

fn main() {}
