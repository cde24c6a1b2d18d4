//! The table of what came of every row.

use std::fmt;

use super::{Proof, ROWS};

/// What came of every row on one backend. [`Display`](fmt::Display) prints it as a Markdown table.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The backend, as its type is written.
    pub backend: &'static str,
    /// What came of each test.
    pub proofs: Vec<Proof>,
}

impl Report {
    pub(super) const fn new(backend: &'static str, proofs: Vec<Proof>) -> Self {
        Self { backend, proofs }
    }

    /// The rows that are red.
    pub fn red(&self) -> impl Iterator<Item = &Proof> {
        self.proofs.iter().filter(|proof| proof.is_red())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| # | row | needs | `{}` |", self.backend)?;
        writeln!(f, "|---|---|---|---|")?;
        for row in ROWS {
            if row.is_kept_by_type() {
                writeln!(f, "| {} | {} | {} | kept by type |", row.number, row.name, row.needs)?;
            }
            for proof in self.proofs.iter().filter(|proof| proof.row.name == row.name) {
                writeln!(f, "| {} | {} | {} | {} |", row.number, proof.case, row.needs, proof.standing)?;
            }
        }
        Ok(())
    }
}
