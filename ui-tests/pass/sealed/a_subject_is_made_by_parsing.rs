use tramline::Subject;

fn main() {
    let _ = Subject::new("invoice.raised");
}
