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

tramline::conformance! { volatile: MemoryFixture }

fn main() {}
