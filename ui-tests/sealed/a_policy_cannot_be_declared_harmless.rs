use tramline::{ShedOldest, subscription::ShedsNothing};

impl ShedsNothing for ShedOldest {}

fn main() {}
