//! The line that proves it.

use tramline::conformance::Fixture;
use tramline_outsider::Spool;

struct SpoolFixture;

impl Fixture for SpoolFixture {
    type Backend = Spool;

    async fn open(_namespace: &str) -> Self {
        Self
    }

    fn backend(&self) -> Spool {
        Spool
    }
}

tramline::conformance! { volatile: SpoolFixture }
