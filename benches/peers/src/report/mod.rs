//! What was measured, for people to read: tables in Markdown, and a chart.

mod chart;
mod markdown;

pub use self::{
    chart::chart,
    markdown::{budgets, floods, latencies, row, title},
};

use crate::{rounds::Measured, threads::Threads};

/// A row of [`rows::all`](crate::rows::all), measured.
pub struct Measurement {
    /// Its index.
    pub row: usize,
    /// On which runtime.
    pub threads: Threads,
    /// What came of each entry.
    pub entries: Vec<Measured>,
}

/// Memory that a flood costs, in MiB.
pub struct Flood {
    /// Who was flooded.
    pub name: &'static str,
    /// With how many messages.
    pub messages: u64,
    /// How much it took.
    pub grown: Option<f64>,
}

/// A rate with as many digits as mean something.
fn rate(per_second: f64) -> String {
    match per_second {
        fast if fast >= 10e6 => format!("{:.1} M", fast / 1e6),
        fast if fast >= 1e6 => format!("{:.2} M", fast / 1e6),
        slow if slow >= 100e3 => format!("{:.0} k", slow / 1e3),
        slow => format!("{:.1} k", slow / 1e3),
    }
}
