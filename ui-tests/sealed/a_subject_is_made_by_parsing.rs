use tramline::Subject;

fn main() {
    let _ = Subject("invoice.raised");
}

// Cause: A `Subject` is one that was checked. There is no other way to make one.
