//! What a backend can do: one trait per capability, each with the code that makes it true or the rule that proves it.

use std::{future::Future, time::Duration};

use super::{
    AtLeastOnceSpec, AtMostOnceSpec, Backend, NothingToSettle, Persistent, PublishError, Source, SubscribeError,
};
use crate::{event::Event, subject::Subject};

/// One attempt, settled before the handler sees it (contract M1).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot deliver at most once",
    label = "asks for `AtMostOnce`",
    note = "write `mode = AtLeastOnce` with `durable` and `max_deliver`, or take a backend that delivers at most once",
    note = "at run time it is `.at_least_once(name, durable, max_deliver)`"
)]
pub trait DeliversAtMostOnce: Backend {
    /// What a subscription reads from.
    type Source: Source<Settler = NothingToSettle>;

    /// Where the queue lives.
    const QUEUE: QueuePlace = QueuePlace::Own;

    /// Opens a source. Returns once the broker has confirmed it (contract Y2).
    ///
    /// # Cancel safety
    /// Dropped half way, as a stop does, it leaves nothing subscribed.
    fn at_most_once(
        session: &Self::Session,
        spec: AtMostOnceSpec,
    ) -> impl Future<Output = Result<Self::Source, SubscribeError>> + Send;
}

/// Retried until acknowledged, bounded, under a durable name (contract M2).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot deliver at least once",
    label = "asks for `AtLeastOnce`",
    note = "write `mode = AtMostOnce` (at run time `.at_most_once(name)`), or take a backend that waits for an acknowledgement"
)]
pub trait DeliversAtLeastOnce: Backend {
    /// What a subscription reads from.
    type Source: Source;

    /// Whether a delivery is leased, and whether a lease can be extended.
    const LEASE: Lease;
    /// Where the queue lives.
    const QUEUE: QueuePlace;
    /// Whether [`Outcome::Returned`](super::Outcome::Returned) gives a delivery back without spending an attempt.
    const RETURNS_ATTEMPT: bool;

    /// Opens a source. Returns once the broker has confirmed it (contract Y2).
    ///
    /// # Cancel safety
    /// Dropped half way, as a stop does, it leaves nothing subscribed.
    fn at_least_once(
        session: &Self::Session,
        spec: AtLeastOnceSpec,
    ) -> impl Future<Output = Result<Self::Source, SubscribeError>> + Send;
}

/// An unacknowledged message outlives the process: a matter of storage, not of mode (contract C14).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` keeps nothing across a restart",
    label = "asks for a backlog that survives",
    note = "write `allow_volatile` (at run time `.allow_volatile()`) to accept that a restart loses the backlog",
    note = "or take a backend that survives a restart"
)]
pub trait SurvivesRestart: DeliversAtLeastOnce + Backend<Storage = Persistent> {
    /// A restart may bring a message back numbered one lower than the attempts it had.
    const LOSES_LAST_FAILURE: bool = false;
    /// A restart may spend an attempt that no process saw.
    const CAN_SPEND_UNSEEN_ATTEMPT: bool = false;
    /// A requested delay does not outlive a restart.
    const FORGETS_DELAY: bool = false;
}

/// A message stays its handler's while the handler runs: the lease is extended, or there is none (contract C16).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot keep a message for a slow handler",
    label = "asks for `ExtendLease`, the default",
    note = "write `slow_handler = Redeliver` (at run time `.redeliver_when_slow()`), or take a backend that extends its leases",
    note = "under `Redeliver` a handler must be safe beside a second run on the same message"
)]
pub trait KeepsForHandler: DeliversAtLeastOnce {}

/// A declined message is never offered before its delay has passed (contract O3).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot hold a declined message back",
    label = "asks for a delay between attempts",
    note = "leave `backoff` and `max_nack_delay` out, or take a backend that delays a redelivery"
)]
pub trait DelaysRedelivery: DeliversAtLeastOnce {
    /// The longest delay that it can hold, or none for no limit.
    const LONGEST_DELAY: Option<Duration>;
}

/// Subscriptions may select subjects by a pattern with wildcards (contract S3).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot select subjects by a pattern",
    label = "asks for a wildcard pattern",
    note = "write `subject = \"..\"` with one whole subject (at run time `.subject(..)`), or take a backend that matches patterns"
)]
pub trait MatchesPatterns: Backend {}

/// One subscriber sees one subject in publication order (contract G1).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` does not keep publication order",
    label = "asks for `ordered`",
    note = "leave `ordered` out, or take a backend that orders"
)]
pub trait Orders: Backend {}

/// A new durable identity may begin at the oldest retained message (contract I5).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot replay what was published before",
    label = "asks to begin at the oldest message",
    note = "write `start_at = New` (at run time leave `.replay()` out), or take a backend that replays"
)]
pub trait Replays: DeliversAtLeastOnce {}

/// At the bound, the newcomer can be refused (contract B2).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot shed its newest message at the bound",
    label = "asks for `ShedNewest`",
    note = "write `overflow = prefer(ShedNewest)` (at run time `.prefer(ShedNewest)`) to take the backend's own behaviour instead, or leave `overflow` out"
)]
pub trait ShedsNewest: DeliversAtMostOnce {}

/// At the bound, the head can be evicted (contract B2).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot shed its oldest message at the bound",
    label = "asks for `ShedOldest`",
    note = "write `overflow = prefer(ShedOldest)` (at run time `.prefer(ShedOldest)`) to take the backend's own behaviour instead, or leave `overflow` out"
)]
pub trait ShedsOldest: DeliversAtMostOnce {}

/// At the bound, the publisher can be told (contract B2, B8).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot tell a publisher that a queue is full",
    label = "asks for `Fail`, or to wait for room",
    note = "write `overflow = prefer(Fail)` (at run time `.prefer(Fail)`) to take the backend's own behaviour instead, or leave `overflow` out",
    note = "leave `.when_room()` out where nothing can say that it is full"
)]
pub trait FailsWhenFull: Backend {
    /// Publishes once every failing subscription that `subject` reaches has room, and waits until then (contract B9).
    /// Waiting is no refusal and is not counted as one.
    ///
    /// # Errors
    /// As [`Session::publish`](super::Session::publish), but for a full queue: that is
    /// [`PublishError::NoRoomInTime`], after this long, if there is a deadline.
    ///
    /// # Cancel safety
    /// While it waits nothing has been taken.
    fn publish_when_room(
        session: &Self::Session,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> impl Future<Output = Result<(), PublishError>> + Send;

    /// The same without waiting, for backends that can tell at once; others need not implement it. Tried first, since
    /// waiting costs an allocation.
    ///
    /// # Errors
    /// The event, which was not taken, whatever the reason: [`publish_when_room`](FailsWhenFull::publish_when_room) is
    /// asked next. It is no refusal and is not counted as one.
    fn publish_at_once(_session: &Self::Session, _subject: &Subject, event: Event) -> Result<(), Event> {
        Err(event)
    }
}

/// A group avoids a member that is full. Nearly always false: most brokers go on handing a wedged member its share.
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` does not route around a member that is full",
    label = "asks for a group that avoids a full member",
    note = "leave the bound `RoutesAroundDegraded` out, or take a backend that avoids full members"
)]
pub trait RoutesAroundDegraded: Backend {}

/// Whether a delivery is leased to its receiver (contract E).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lease {
    /// There is no lease: a delivery is its receiver's until it is settled or the session ends.
    None,
    /// A lease that cannot be extended.
    Fixed,
    /// A lease that the backend extends by a heartbeat.
    Extendable,
}

/// Where the queue lives that a subscription's bound is applied to (contract B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueuePlace {
    /// In the backend: the bound is its capacity.
    Own,
    /// At the broker: the backend holds only a window of it.
    Elsewhere,
}
