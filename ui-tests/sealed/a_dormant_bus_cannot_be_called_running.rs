use tramline::Running;

fn main() {
    let _ = Running(());
}
