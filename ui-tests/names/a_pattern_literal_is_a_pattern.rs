use tramline::pattern;

fn main() {
    let _ = pattern!("invoice.**");
}

// Cause: `*` stands for one whole token and `>` for all that follow. Beside another character a broker
// takes it for a letter, and the pattern never matches.
