use backends::Everything;
use tramline::Bus;

fn main() {
    let _ = Bus::builder(Everything).build();
}

// Cause: Every event says where it comes from. The bus fills that in, so it has to know the name of
// the service.
