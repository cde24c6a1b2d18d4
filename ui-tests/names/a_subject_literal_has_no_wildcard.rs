use tramline::subject;

fn main() {
    let _ = subject!("invoice.*");
}

// Cause: A subject names one place. Wildcards select several, so they belong in a `pattern`.
