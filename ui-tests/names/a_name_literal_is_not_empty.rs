use tramline::name;

fn main() {
    let _ = name!("");
}
