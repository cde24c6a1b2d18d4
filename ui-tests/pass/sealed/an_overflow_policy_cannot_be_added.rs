use tramline::{ShedOldest, contract::Overflow, subscription::OverflowPolicy};

fn main() {
    assert_eq!(ShedOldest::OVERFLOW, Overflow::ShedOldest);
}
