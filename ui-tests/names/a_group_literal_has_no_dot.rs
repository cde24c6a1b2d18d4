use tramline::group;

fn main() {
    let _ = group!("billing.workers");
}
