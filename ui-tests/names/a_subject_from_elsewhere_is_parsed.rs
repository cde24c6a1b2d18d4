use tramline::subject;

fn select(text: &str) {
    let _ = subject!(text);
}

fn main() {
    select("invoice.raised");
}
