use tramline::subscription::Mode;

struct ExactlyOnce;

impl Mode for ExactlyOnce {}

fn main() {}

// Cause: The bus knows what to do in each delivery mode. It would not know what to do in another.
