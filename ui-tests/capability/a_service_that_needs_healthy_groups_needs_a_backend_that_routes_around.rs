use backends::AtMostOnly;
use tramline::contract::RoutesAroundDegraded;

fn workers<B: RoutesAroundDegraded>(_backend: B) {}

fn main() {
    workers(AtMostOnly);
}

// Cause: Most brokers share messages out among the members of a group without asking whether one of
// them is stuck. A service that relies on that being seen says so, and this backend does not do it.
