use tramline::Subject;

fn select(text: &str) {
    let _ = Subject::new(text);
}

fn main() {
    select("invoice.raised");
}
