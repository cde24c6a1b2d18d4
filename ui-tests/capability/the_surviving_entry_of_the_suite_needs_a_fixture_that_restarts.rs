use tramline::{Memory, conformance::Fixture};

struct MemoryFixture;

impl Fixture for MemoryFixture {
    type Backend = Memory;

    async fn open(_namespace: &str) -> Self {
        Self
    }

    fn backend(&self) -> Memory {
        Memory::new()
    }
}

tramline::conformance! { surviving: MemoryFixture }

fn main() {}

// Cause: The suite proves that a backend survives a restart by restarting its storage. A fixture that
// cannot do that is for a backend that keeps nothing.
