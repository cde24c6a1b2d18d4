use backends::Everything;
use tramline::contract::{Backend, Capabilities};

fn main() {
    let _: Capabilities = Everything::CAPABILITIES;
}
