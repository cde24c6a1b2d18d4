//! What a fault is: hooks around memory, each of which does nothing unless it is filled in.

use std::num::NonZeroU32;

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tramline::{
    Event, Subject,
    backend::memory::MemorySession,
    conformance::Ability,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, CloseError, PublishError, RequestError, ResponderSpec, Session, SettleError,
        Settlement, SourceId, SourceStats,
    },
};

use super::{
    hand::{Hand, Said},
    through::{Publish, Request, Retire, Retired},
};

/// Where a backend can be broken. What a fault leaves alone is memory's.
pub(crate) trait Fault: Send + Sync + 'static {
    /// The limit that the fixture tells of.
    fn payload_limit(&self) -> Option<usize> {
        None
    }

    /// Whether extensions keep their kinds, as the fixture tells.
    fn keeps_extension_kinds(&self) -> bool {
        true
    }

    /// What the fixture answers when it is asked to put a foreign message on the broker.
    fn publish_foreign(&self) -> Ability {
        Ability::NotHere
    }

    /// A session is opened.
    fn opens(&self) {}

    /// A publish, also one that waits for room.
    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(publish.go())
    }

    /// A session is closed.
    fn closes<'a>(&'a self, session: &'a MemorySession) -> BoxFuture<'a, Result<(), CloseError>> {
        Box::pin(session.close())
    }

    /// What is asked of memory when this is asked of the backend.
    fn at_most_once(&self, _spec: &mut AtMostOnceSpec) {}

    /// The same, at least once.
    fn at_least_once(&self, _spec: &mut AtLeastOnceSpec) {}

    /// A source was opened in this session.
    fn subscribed<'a>(&'a self, _session: &'a MemorySession) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Whether a source gets to see what arrives for it; called before it is handed over, in the order of arrival.
    fn arrives(&self, _arrival: &mut Arrival<'_>) -> Passes {
        Passes::Once
    }

    /// Whether a source takes the next message out of memory's queue while it hands one over.
    fn reads_ahead(&self) -> bool {
        false
    }

    /// No source yields anything before then.
    fn shut_until(&self) -> Option<Instant> {
        None
    }

    /// What is read when memory counts this.
    fn counts(&self, stats: SourceStats) -> SourceStats {
        stats
    }

    /// A source retires.
    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        retire.go()
    }

    /// Something is in hand from now on.
    fn handed_over(&self, _hand: &Hand) {}

    /// What is done when this is said to the settler, and its answer; none where it never answers.
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        Some(hand.say(settlement))
    }

    /// What is done when the settler is dropped before it has said anything.
    fn drops(&self, hand: &Hand, _said: Said) {
        hand.let_go();
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
}

/// What arrives at a source.
pub(crate) struct Arrival<'a> {
    /// Which arrival of this source it is, from 0.
    pub(crate) nth: u64,
    pub(crate) source: SourceId,
    pub(crate) subject: &'a mut Subject,
    pub(crate) event: &'a mut Event,
    pub(crate) attempt: &'a mut NonZeroU32,
}

/// What becomes of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passes {
    Once,
    /// It is lost: settled, and not handed over.
    Never,
    /// Once, as malformed.
    Malformed,
    /// Once now, and once more when nothing else is there; at most once only.
    Again,
    /// After the next one.
    Later,
}

/// Nothing is broken.
pub(super) struct Sound;

impl Fault for Sound {}
