//! Faults in running out of attempts.

use std::{collections::HashMap, num::NonZeroU32, sync::Mutex};

use tramline::contract::{AtLeastOnceSpec, SourceId, SourceStats};

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    const THEY_EXHAUST: &[&str] = &["at_least_once::budget_is_shared", "at_least_once::delay_spends_one_attempt"];
    vec![
        mutant("offers a message once more than it may", || OnceMore)
            .breaks(&["at_least_once::exhaustion"])
            .also(THEY_EXHAUST, "they exhaust a message, too"),
        mutant("does not count what is exhausted", || Counts(|_| 0))
            .breaks(&["at_least_once::exhaustion"])
            .also(THEY_EXHAUST, "they exhaust a message, too"),
        mutant("counts what is exhausted twice", || Counts(|exhausted| 2 * exhausted))
            .breaks(&["at_least_once::exhaustion"])
            .also(THEY_EXHAUST, "they exhaust a message, too"),
        mutant("counts attempts for each member", PerMember::default).breaks(&["at_least_once::budget_is_shared"]),
    ]
}

struct OnceMore;

impl Fault for OnceMore {
    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        spec.max_deliver = spec.max_deliver.saturating_add(1);
    }
}

struct Counts(fn(u64) -> u64);

impl Fault for Counts {
    fn counts(&self, mut stats: SourceStats) -> SourceStats {
        stats.exhausted = (self.0)(stats.exhausted);
        stats
    }
}

/// With the attempt at which each message came to a source first.
#[derive(Default)]
struct PerMember(Mutex<HashMap<(SourceId, String), u32>>);

impl Fault for PerMember {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        let attempt = arrival.attempt.get();
        let mut first = self.0.lock().unwrap();
        let first = *first.entry((arrival.source, arrival.event.id().to_owned())).or_insert(attempt);
        *arrival.attempt = NonZeroU32::new(attempt - first + 1).unwrap();
        Passes::Once
    }
}
