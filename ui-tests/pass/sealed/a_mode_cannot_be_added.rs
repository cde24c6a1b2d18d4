use tramline::{AtLeastOnce, subscription::Mode};

fn mode<M: Mode>() {}

fn main() {
    mode::<AtLeastOnce>();
}
