use tramline::subject;

fn select(text: &str) {
    let _ = subject!(text);
}

fn main() {
    select("invoice.raised");
}

// Cause: `subject!` checks a literal while it is compiled. A value that comes from elsewhere is
// checked when it is there.
