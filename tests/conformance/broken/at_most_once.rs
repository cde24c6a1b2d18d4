//! Faults in what at most once means.

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("offers its sixth message again once there is nothing else", || PutBack)
            .breaks(&["at_most_once::one_attempt"]),
    ]
}

struct PutBack;

impl Fault for PutBack {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if !arrival.at_least_once && arrival.nth == 5 { Passes::Again } else { Passes::Once }
    }
}
