use tramline::{contract::Overflow, subscription::OverflowPolicy};

struct ShedRandom;

impl OverflowPolicy for ShedRandom {
    const OVERFLOW: Overflow = Overflow::ShedOldest;
}

fn main() {}

// Cause: Each policy is carried out by backends. One that no backend knows would do nothing.
