use tramline::source;

fn main() {
    let _ = source!("urn:example:the billing");
}
