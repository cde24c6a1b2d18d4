//! Faults in what becomes of a message that was settled.

use std::num::NonZeroU32;

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![mutant("says attempt 1 each time", || AlwaysTheFirst).breaks(&["at_least_once::nack_redelivers"])]
}

struct AlwaysTheFirst;

impl Fault for AlwaysTheFirst {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        *arrival.attempt = NonZeroU32::MIN;
        Passes::Once
    }
}
