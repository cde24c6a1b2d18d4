use tramline::Running;

fn main() {
    let _ = size_of::<Running>();
}
