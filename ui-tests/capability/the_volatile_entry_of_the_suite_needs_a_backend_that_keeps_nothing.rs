use backends::Everything;
use tramline::conformance::Fixture;

struct EverythingFixture;

impl Fixture for EverythingFixture {
    type Backend = Everything;

    async fn open(_namespace: &str) -> Self {
        Self
    }

    fn backend(&self) -> Everything {
        Everything
    }
}

tramline::conformance! { volatile: EverythingFixture }

fn main() {}

// Cause: A backend that claims to survive a restart has to be restarted to prove it, and the
// `volatile` entry of the suite does not.
