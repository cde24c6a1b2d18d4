use tramline::pattern;

fn main() {
    let _ = pattern!("invoice.*");
}
