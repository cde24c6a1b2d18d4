use tramline::Subject;

fn main() {
    let _ = Subject("invoice.raised");
}
