use tramline::{ShedOldest, subscription::ShedsNothing};

impl ShedsNothing for ShedOldest {}

fn main() {}

// Cause: Which policies throw nothing away is a fact about them, on which at least once relies.
