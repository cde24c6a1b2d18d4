use tramline::{Fail, subscription::ShedsNothing};

fn safe<O: ShedsNothing>(_policy: O) {}

fn main() {
    safe(Fail);
}
