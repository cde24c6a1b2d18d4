//! The in-memory backend, broken on purpose in one respect at a time.
//!
//! A fault is a [`Fault`] with one of its hooks filled in; the files beside this one have them, by the rows that see them.

mod at_most_once;
mod backend;
mod bounds;
mod constructor;
mod counters;
mod delivery;
mod edits;
mod lifecycle;
mod limits;
mod order;
mod patterns;
mod replier;
mod requests;
mod retire;
mod settlement;
mod through;
mod turns;

use std::{cell::RefCell, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tramline::{
    Event, Subject,
    backend::memory::MemorySession,
    conformance::Fixture,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, CloseError, FinalReading, PublishError, RequestError, ResponderSpec, Session,
        Settlement, SourceId, SourceStats,
    },
};

use self::{
    backend::Broken,
    through::{Publish, Request},
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

    /// A publish.
    fn carries<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(publish.go())
    }

    /// A session is opened.
    fn opens(&self) {}

    /// A source was opened in this session.
    fn subscribed<'a>(&'a self, _session: &'a MemorySession) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// A session is closed.
    fn closes<'a>(&'a self, session: &'a MemorySession) -> BoxFuture<'a, Result<(), CloseError>> {
        Box::pin(session.close())
    }

    /// What a retire answers; before it the source was retired so many times.
    fn retired(&self, _before: u64, _last: &mut FinalReading) {}

    /// Whether a retire takes a step, and one that was given up before it is not taken up again.
    fn retires_once(&self) -> bool {
        false
    }

    /// Whether a source takes the next message out of memory's queue while it hands one over.
    fn reads_ahead(&self) -> bool {
        false
    }

    /// What is asked of memory when a responder is asked of the backend.
    fn responds(&self, _spec: &mut ResponderSpec) {}

    /// A request.
    fn requests<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Event, RequestError>> {
        Box::pin(request.go())
    }

    /// What is replied when this is said to the reply address.
    fn replies(&self, reply: Event) -> Event {
        reply
    }

    /// Whether what was published to a responder gets a reply address.
    fn makes_addresses_up(&self) -> bool {
        false
    }

    /// How many replies are unclaimed when memory counts so many.
    fn unclaimed(&self, count: u64) -> u64 {
        count
    }

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
    /// Once now, and once more when nothing else is there; at most once only.
    Again,
    /// After the next one.
    Later,
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
        retire::mutants(),
        lifecycle::mutants(),
        order::mutants(),
        turns::mutants(),
        at_most_once::mutants(),
        settlement::mutants(),
        limits::mutants(),
        requests::mutants(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
