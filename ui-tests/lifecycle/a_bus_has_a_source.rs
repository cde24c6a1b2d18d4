use backends::Everything;
use tramline::Bus;

fn main() {
    let _ = Bus::builder(Everything).build();
}
