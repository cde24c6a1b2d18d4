//! The in-memory backend, broken on purpose in one respect at a time.
//!
//! A fault is a [`Fault`] with one of its hooks filled in; the files beside this one have them, by the rows that see them.

mod backend;
mod bounds;
mod capped;
mod constructor;
mod counters;
mod delays;
mod delivery;
mod edits;
mod exhaustion;
mod giving_back;
mod hand;
mod late;
mod limits;
mod patterns;
mod settlement;

use std::{cell::RefCell, sync::Arc, time::Duration};

use tokio::time::Instant;
use tramline::{
    Event, Subject,
    conformance::Fixture,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, PublishError, RetireReason, SettleError, Settlement, SourceId, SourceStats,
    },
};

use self::{
    backend::Broken,
    hand::{Hand, Said},
};
use crate::both_ways::Mutant;

/// Where a backend can be broken. What a fault leaves alone is memory's.
pub(crate) trait Fault: Send + Sync + 'static {
    /// Whether a source gets to see what arrives for it; called before it is handed over, in the order of arrival.
    fn arrives(&self, _arrival: &mut Arrival<'_>) -> Passes {
        Passes::Once
    }

    /// What is asked of memory when this is asked of the backend.
    fn at_most_once(&self, _spec: &mut AtMostOnceSpec) {}

    /// The same, at least once.
    fn at_least_once(&self, _spec: &mut AtLeastOnceSpec) {}

    /// Where else this is published, before it is published where it was to be, and whatever comes of that.
    fn first(&self, _subject: &Subject, _event: &Event) -> Option<Subject> {
        None
    }

    /// What is asked of memory when this is published; none for nothing, with the answer that it was.
    fn publishes(&self, event: Event) -> Result<Option<Event>, PublishError> {
        Ok(Some(event))
    }

    /// What is answered when this is what memory answers.
    fn published(&self, answer: Result<(), PublishError>) -> Result<(), PublishError> {
        answer
    }

    /// How long memory is asked to wait for room when the backend is asked to wait so long.
    fn waits(&self, within: Option<Duration>) -> Option<Duration> {
        within
    }

    /// The limit that the fixture tells of.
    fn payload_limit(&self) -> Option<usize> {
        None
    }

    /// Whether extensions keep their kinds, as the fixture tells.
    fn keeps_extension_kinds(&self) -> bool {
        true
    }

    /// What is said to memory when this is said to the settler.
    fn settles(&self, settlement: Settlement) -> Settlement {
        settlement
    }

    /// Something is in hand from now on.
    fn handed_over(&self, _hand: &Hand) {}

    /// What is done when this is said to the settler, and its answer; none where it never answers.
    fn settle(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        Some(hand.say(self.settles(settlement)))
    }

    /// What is done when the settler is dropped.
    fn drops(&self, hand: &Hand, _said: Said) {
        hand.let_go();
    }

    /// No source yields anything before then.
    fn shut_until(&self) -> Option<Instant> {
        None
    }

    /// Why memory is told that a source retires for this reason.
    fn retires(&self, _source: SourceId, reason: RetireReason) -> RetireReason {
        reason
    }

    /// The session is about to close.
    fn closes(&self) {}

    /// What is read when memory counts this.
    fn counts(&self, stats: SourceStats) -> SourceStats {
        stats
    }
}

/// What arrives at a source.
pub(crate) struct Arrival<'a> {
    /// Which arrival of this source it is, from 0.
    pub(crate) nth: u64,
    pub(crate) source: SourceId,
    pub(crate) subject: &'a mut Subject,
    pub(crate) event: &'a mut Event,
    pub(crate) attempt: &'a mut std::num::NonZeroU32,
}

/// What becomes of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passes {
    Once,
    /// It is lost: settled, and not handed over.
    Never,
}

/// Nothing is broken.
struct Sound;

impl Fault for Sound {}

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
        settlement::mutants(),
        giving_back::mutants(),
        late::mutants(),
        exhaustion::mutants(),
        delays::mutants(),
        limits::mutants(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
