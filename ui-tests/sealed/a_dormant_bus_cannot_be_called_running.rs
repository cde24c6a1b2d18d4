use tramline::Running;

fn main() {
    let _ = Running(());
}

// Cause: `Running` is proof that a bus was started. Only `start` makes one.
