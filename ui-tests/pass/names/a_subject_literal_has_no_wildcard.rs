use tramline::subject;

fn main() {
    let _ = subject!("invoice.raised");
}
