use backends::AtMostOnly;
use tramline::contract::RoutesAroundDegraded;

fn workers<B: RoutesAroundDegraded>(_backend: B) {}

fn main() {
    workers(AtMostOnly);
}
