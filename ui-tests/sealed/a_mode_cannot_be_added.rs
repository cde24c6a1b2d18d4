use tramline::subscription::Mode;

struct ExactlyOnce;

impl Mode for ExactlyOnce {}

fn main() {}
