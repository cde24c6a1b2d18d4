//! Faults in what at most once means.

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("offers its sixth message again once there is nothing else", || PutBack)
            .breaks(&["at_most_once::one_attempt"])
            .also(
                &[
                    "at_most_once::fanout_every_subscriber",
                    "at_most_once::competing_exactly_one",
                    "at_most_once::pattern_truth_table",
                    "at_most_once::bound_backpressure",
                    "at_most_once::retire_beside_publish",
                ],
                "they count what comes, and have a sixth message",
            ),
    ]
}

struct PutBack;

impl Fault for PutBack {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if arrival.nth == 5 { Passes::Again } else { Passes::Once }
    }
}
