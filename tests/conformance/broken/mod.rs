//! The in-memory backend, broken on purpose in one respect at a time.
//!
//! A fault is a [`Fault`] with one of its hooks filled in; the files beside this one have them, by the rows that see them.

mod at_most_once;
mod backend;
mod bounds;
mod capped;
mod constructor;
mod counters;
mod delays;
mod delivery;
mod edits;
mod exhaustion;
mod fault;
mod foreign;
mod giving_back;
mod hand;
mod late;
mod lifecycle;
mod limits;
mod order;
mod patterns;
mod replier;
mod requests;
mod retire;
mod settlement;
mod source;
mod through;
mod turns;

use std::{cell::RefCell, sync::Arc};

use tramline::{
    Subject,
    conformance::{Ability, Fixture},
};

pub(crate) use self::fault::Fault;
use self::{
    backend::Broken,
    fault::{Arrival, Passes, Sound},
    hand::{Hand, Said},
};
use crate::both_ways::Mutant;

thread_local! {
    /// The fault of this thread's backends. Each run has a thread and a runtime of its own.
    static FAULT: RefCell<Arc<dyn Fault>> = RefCell::new(Arc::new(Sound));
}

/// From here on this thread's backends have this fault.
pub(crate) fn set_fault(fault: Arc<dyn Fault>) {
    FAULT.set(fault);
}

pub(crate) struct BrokenFixture(Arc<dyn Fault>);

impl Fixture for BrokenFixture {
    type Backend = Broken;

    async fn open(_namespace: &str) -> Self {
        Self(FAULT.with_borrow(Arc::clone))
    }

    fn backend(&self) -> Broken {
        Broken(self.0.clone())
    }

    fn payload_limit(&self) -> Option<usize> {
        self.0.payload_limit()
    }

    fn keeps_extension_kinds(&self) -> bool {
        self.0.keeps_extension_kinds()
    }

    async fn publish_foreign(&self, _subject: &Subject) -> Ability {
        self.0.publish_foreign()
    }
}

// Without a fault it is green, row by row: what turns red on a mutant does so because of the fault.
tramline::conformance! { volatile: BrokenFixture }

/// Every mutant.
pub(crate) fn mutants() -> Vec<Mutant> {
    [
        constructor::mutants(),
        delivery::mutants(),
        edits::mutants(),
        patterns::mutants(),
        bounds::mutants(),
        counters::mutants(),
        retire::mutants(),
        lifecycle::mutants(),
        order::mutants(),
        turns::mutants(),
        at_most_once::mutants(),
        settlement::mutants(),
        giving_back::mutants(),
        late::mutants(),
        exhaustion::mutants(),
        delays::mutants(),
        limits::mutants(),
        foreign::mutants(),
        requests::mutants(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
