//! The in-memory backend.

use tramline::{Memory, conformance::Fixture};

pub(crate) struct MemoryFixture;

impl Fixture for MemoryFixture {
    type Backend = Memory;

    async fn open(_namespace: &str) -> Self {
        Self
    }

    fn backend(&self) -> Memory {
        Memory::new()
    }
}

tramline::conformance! { volatile: MemoryFixture }

#[tokio::test(start_paused = true)]
async fn the_table_of_the_rows_on_memory_has_no_red_one() {
    let report = suite().report().await;
    crate::both_ways::show(&format!("\n{report}"));
    assert_eq!(report.red().count(), 0);
}
