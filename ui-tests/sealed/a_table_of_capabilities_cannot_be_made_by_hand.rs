use tramline::contract::Capabilities;

fn main() {
    let _ = Capabilities(());
}
