//! What the conformance suite says of the in-memory backend, as a Markdown table.
//!
//! ```text
//! cargo run --features conformance --example conformance_report
//! ```
//!
//! Look at the last column: a row whose capability is not declared does not apply, and says what is missing.

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

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let report = suite().report().await;
    print!("{report}");
    for proof in report.red() {
        eprint!("\n{proof}");
    }
    // A red row is a failure, as it is in the tests.
    u8::from(report.red().next().is_some()).into()
}
