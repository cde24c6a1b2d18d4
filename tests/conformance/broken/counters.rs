//! Faults in what the counters show.

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use tramline::contract::SourceStats;

use super::Fault;
use crate::both_ways::{Mutant, mutant};

const SNAPSHOT: &[&str] = &["at_most_once::snapshot_advisory", "at_least_once::snapshot_advisory"];

/// No other row reads so often.
const OFTEN: u32 = 150;

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("starts a total over when it was read often", || Readings::of(starts_over)).breaks(SNAPSHOT),
        mutant("reads behind every other time", || Readings::of(behind)).breaks(SNAPSHOT),
        mutant("counts one as pending that is not", || Readings::of(one_more)).breaks(SNAPSHOT),
        mutant("waits for an answer", || Readings::of(waits)).breaks(SNAPSHOT),
    ]
}

/// What is read, by how often it was read before.
struct Readings {
    before: AtomicU32,
    of: fn(u32, SourceStats) -> SourceStats,
}

impl Readings {
    fn of(of: fn(u32, SourceStats) -> SourceStats) -> Self {
        Self { before: AtomicU32::new(0), of }
    }
}

impl Fault for Readings {
    fn counts(&self, stats: SourceStats) -> SourceStats {
        (self.of)(self.before.fetch_add(1, Relaxed), stats)
    }
}

fn starts_over(before: u32, mut stats: SourceStats) -> SourceStats {
    if before > OFTEN {
        stats.refused = 0;
    }
    stats
}

fn behind(before: u32, mut stats: SourceStats) -> SourceStats {
    if before > OFTEN && before.is_multiple_of(2) && stats.pending > 0 {
        stats.accepted -= 1;
        stats.pending -= 1;
    }
    stats
}

fn one_more(before: u32, mut stats: SourceStats) -> SourceStats {
    if before > OFTEN {
        stats.pending += 1;
    }
    stats
}

/// For the last readings of the row only, so that it does not take long.
fn waits(before: u32, stats: SourceStats) -> SourceStats {
    if before >= 384 {
        std::thread::sleep(Duration::from_millis(120));
    }
    stats
}
