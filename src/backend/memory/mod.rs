//! The in-memory backend: messages go from publisher to subscriber within the process.
//!
//! What it can do is the list of implementations below. What that means here:
//!
//! - **The queue is the bound.** Each source has one queue of its own, of exactly its bound, in memory in proportion to
//!   what was queued at most. A message is in it until it is handed over.
//! - **A full queue** does what its subscription says; without a word it refuses the newcomer. A publish is all or
//!   nothing towards subscriptions that fail when full: room is taken in all of them before a queue that sheds is
//!   touched (contract B8).
//! - **A group** is a name and a pattern. A message goes to the member with the least pending, around members that are
//!   full; among equals an idle one is preferred, and then they take turns. Members have one bound and one policy (B10).
//! - **A source that ends** leaves the routing at once. At most once, its backlog is dropped, and its last reading counts
//!   it as pending.
//! - **At least once** a durable identity is kept by the session, and by nothing else. It has one queue, which all of its
//!   sources share, and one number of attempts for each message. What is queued, in hand, or waits out a delay counts
//!   against the bound, and a publisher that finds it full is told, with a named policy or without.
//!   - What is declined comes back behind what is queued, after its delay and never before, with the next attempt; what
//!     is returned, or whose settler is dropped, with the same. The last attempt declined, a message is exhausted.
//!   - When a source ends, what it had in hand comes back at once, as returned, and its settlements are refused. What the
//!     identity is owed waits for its next source, and what is published meanwhile with it. Where the last source is
//!     given up, all of it is dropped, nothing reaches the identity any more, and its name is free.
//!   - An identity that exists is not opened with another pattern, `max_deliver` or bound: the backlog was made by the
//!     old values. Once it is given up, or in the next session, it is.
//!   - Which reading has the shared backlog: that of the eldest live source, and of the last one to end. Its `accepted`
//!     is what was handed over to it and what it is owed now, so a message that comes back is a new offer.
//! - **A request** goes the way of a publish, as with NATS: each group of responders that its subject reaches gets it, one
//!   member of each, with a reply address, and every other subscription gets it as an event like any other.
//!   - The first reply is the answer, a failure reply too; every further one, and one that comes after the deadline or
//!     after the request was given up, is unclaimed, which its responder does not learn (contract R4).
//!   - Nobody received it where nobody is subscribed, and where those who are have shed it: no responders. Where only
//!     subscriptions received it somebody did, and nobody is going to answer: no reply, at the deadline (R3).
//!   - A subscription that fails when full turns it away for all, as a publish (B8).
//!   - A responder's queue is a queue as above. A request that finds all members of a group full is refused, counted, and
//!     answered at once with a failure reply; one that is in the queue of a responder that ends, or whose reply address
//!     is dropped, is answered so, too (R10). What was published has no reply address (R8), and is refused silently.
//!   - The members of a group on one pattern all answer, or none does: otherwise they would take each other's messages.
//! - **Nothing outlives a session.** Closing it, or dropping it, ends its sources, ends every request that waits, and drops
//!   what is owed. A reply that comes after it is an error.
//!
//! Publishers share no lock but that of a queue they both publish to. A publish allocates nothing as long as a subject
//! reaches at most 16 subscriptions, and neither a delivery nor a settlement does once a queue has had its size. A request
//! allocates once, and its reply not at all.

mod asked;
mod durable;
mod group;
mod hands;
mod membership;
mod owed;
mod queue;
mod requests;
mod route;
mod session;
mod source;
mod sync;
mod waiters;

pub use self::{
    durable::{MemoryDurableControl, MemoryDurableDeliveries, MemoryDurableSource, MemorySettler},
    requests::{MemoryReplier, MemoryRequestDeliveries, MemoryRequests, MemoryResponderControl},
    session::MemorySession,
    source::{MemoryDeliveries, MemorySource, MemorySourceControl},
};
use std::time::Duration;

use crate::{
    capabilities,
    contract::{
        AnswersRequests, AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, DelaysRedelivery, DeliversAtLeastOnce,
        DeliversAtMostOnce, FailsWhenFull, KeepsForHandler, Lease, MatchesPatterns, OpenError, Orders, PublishError,
        QueuePlace, RequestError, ResponderSpec, RoutesAroundDegraded, ShedsNewest, ShedsOldest, SubscribeError,
        Volatile,
    },
    event::Event,
    subject::Subject,
};

/// A backend without a broker, for one process: development, tests, and services that are one process.
///
/// It keeps nothing across a restart, so a subscription at least once says that it may: `allow_volatile`.
///
/// ```
/// use tramline::{backend::memory::Memory, contract::Backend};
///
/// let memory = Memory::new();
/// println!("{}", Memory::CAPABILITIES);
/// # let _ = memory;
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Memory;

impl Memory {
    /// A backend that connects to nothing. Each session of it is a world of its own.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Backend for Memory {
    type Session = MemorySession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Memory);

    async fn open(&self) -> Result<MemorySession, OpenError> {
        Ok(MemorySession::new())
    }
}

impl DeliversAtMostOnce for Memory {
    type Source = MemorySource;

    const QUEUE: QueuePlace = QueuePlace::Own;

    async fn at_most_once(session: &MemorySession, spec: AtMostOnceSpec) -> Result<MemorySource, SubscribeError> {
        session.subscribe(spec)
    }
}

impl DeliversAtLeastOnce for Memory {
    type Source = MemoryDurableSource;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(
        session: &MemorySession,
        spec: AtLeastOnceSpec,
    ) -> Result<MemoryDurableSource, SubscribeError> {
        session.subscribe_durable(spec)
    }
}

impl KeepsForHandler for Memory {}

impl DelaysRedelivery for Memory {
    const LONGEST_DELAY: Option<Duration> = None;
}

impl ShedsNewest for Memory {}

impl ShedsOldest for Memory {}

impl FailsWhenFull for Memory {
    #[inline]
    fn publish_when_room(
        session: &MemorySession,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> impl Future<Output = Result<(), PublishError>> + Send {
        session.publish_when_room(subject, event, within)
    }

    #[inline]
    fn publish_at_once(session: &MemorySession, subject: &Subject, event: Event) -> Result<(), Event> {
        session.publish_at_once(subject, event)
    }
}

impl MatchesPatterns for Memory {}

impl Orders for Memory {}

impl RoutesAroundDegraded for Memory {}

impl AnswersRequests for Memory {
    type Requests = MemoryRequests;
    type Replier = MemoryReplier;

    async fn responder(session: &MemorySession, spec: ResponderSpec) -> Result<MemoryRequests, SubscribeError> {
        session.respond(spec)
    }

    fn request(
        session: &MemorySession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> impl Future<Output = Result<Event, RequestError>> + Send {
        session.request(subject, event, within)
    }

    fn unclaimed(session: &MemorySession) -> u64 {
        session.unclaimed()
    }
}
