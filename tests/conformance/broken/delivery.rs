//! Faults in who gets a message.

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("hands only every other message over at most once", || OnlyEveryOther)
            .breaks(&["at_most_once::fanout_every_subscriber", "at_most_once::one_attempt"]),
    ]
}

struct OnlyEveryOther;

impl Fault for OnlyEveryOther {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if !arrival.at_least_once && arrival.nth % 2 == 1 { Passes::Never } else { Passes::Once }
    }
}
