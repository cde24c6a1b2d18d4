//! Faults in the order of what a source gets.

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("hands its 151st message over after the next one", || Overtaken)
            .breaks(&["at_most_once::ordering", "at_least_once::ordering"]),
    ]
}

struct Overtaken;

impl Fault for Overtaken {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if arrival.nth == 150 { Passes::Later } else { Passes::Once }
    }
}
