//! What a subscription asks a backend for: one type per delivery mode, holding only what means something in it.

use std::{
    fmt,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use crate::subject::{DurableName, Group, Name, Pattern};

/// Identifies a source within a bus (contract N10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SourceId {
    /// Grows by one with each successful start of the bus and never repeats.
    pub activation: u64,
    /// The consumer within the bus.
    pub consumer: u32,
    /// Grows by one with each source of one consumer within an activation, from 0.
    pub attempt: u32,
}

impl SourceId {
    /// An identity from its parts.
    pub const fn new(activation: u64, consumer: u32, attempt: u32) -> Self {
        Self { activation, consumer, attempt }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.activation, self.consumer, self.attempt)
    }
}

/// What happens to a newcomer at the bound, where a subscription names it (contract B2). Without a name it is the
/// backend's own behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The newcomer is refused.
    ShedNewest,
    /// The head is evicted and the newcomer enters.
    ShedOldest,
    /// The publisher is told.
    Fail,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ShedNewest => "ShedNewest",
            Self::ShedOldest => "ShedOldest",
            Self::Fail => "Fail",
        })
    }
}

/// A source that delivers at most once (contract M1).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AtMostOnceSpec {
    /// Which source this will be.
    pub id: SourceId,
    /// The subscription's name, for errors and logs.
    pub name: Name,
    /// The subjects it selects; without a wildcard it is one subject.
    pub pattern: Pattern,
    /// The group whose members compete, or none for fan-out.
    pub group: Option<Group>,
    /// How many messages it holds at most (B1).
    pub bound: NonZeroUsize,
    /// What happens at the bound, or none for the backend's own behaviour.
    pub overflow: Option<Overflow>,
    /// Whether publication order is asked for (G1).
    pub ordered: bool,
}

impl AtMostOnceSpec {
    /// A fan-out source with the backend's own behaviour at the bound.
    pub const fn new(id: SourceId, name: Name, pattern: Pattern, bound: NonZeroUsize) -> Self {
        Self { id, name, pattern, group: None, bound, overflow: None, ordered: false }
    }

    /// Competes in a group.
    #[must_use]
    pub fn group(self, group: impl Into<Option<Group>>) -> Self {
        Self { group: group.into(), ..self }
    }

    /// Names what happens at the bound.
    #[must_use]
    pub fn overflow(self, overflow: impl Into<Option<Overflow>>) -> Self {
        Self { overflow: overflow.into(), ..self }
    }

    /// Asks for publication order.
    #[must_use]
    pub fn ordered(self, ordered: bool) -> Self {
        Self { ordered, ..self }
    }
}

/// Where a durable identity begins when it is created (contract I5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StartAt {
    /// At what is published from then on.
    #[default]
    New,
    /// At the oldest message that is retained.
    AllAvailable,
}

/// What happens to a message whose handler takes longer than its lease (contract E3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SlowHandler {
    /// The lease is extended, for at most this long.
    ExtendLease {
        /// From receipt (E4).
        max_processing_time: Duration,
    },
    /// The message is delivered again, beside the handler that still runs.
    Redeliver,
}

impl SlowHandler {
    /// How long a lease is extended unless a subscription says otherwise (E4).
    pub const DEFAULT_MAX_PROCESSING_TIME: Duration = Duration::from_secs(300);
}

impl Default for SlowHandler {
    fn default() -> Self {
        Self::ExtendLease { max_processing_time: Self::DEFAULT_MAX_PROCESSING_TIME }
    }
}

/// A source that delivers until acknowledged, under a durable name (contract M2).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AtLeastOnceSpec {
    /// Which source this will be.
    pub id: SourceId,
    /// The subscription's name, for errors and logs.
    pub name: Name,
    /// The subjects it selects; without a wildcard it is one subject.
    pub pattern: Pattern,
    /// The identity that outlives this source; every process on it competes (I3).
    pub durable: DurableName,
    /// How many attempts a message has.
    pub max_deliver: NonZeroU32,
    /// How many messages it holds at most: queued, in hand, and waiting out a delay (B4).
    pub bound: NonZeroUsize,
    /// Whether [`Overflow::Fail`] is named; the other policies do not exist here (C13).
    pub fail_when_full: bool,
    /// Where a new identity begins.
    pub start_at: StartAt,
    /// What happens when a handler is slow.
    pub slow_handler: SlowHandler,
    /// The lease, or none for the backend's own default (E2).
    pub ack_wait: Option<Duration>,
    /// Whether publication order of first deliveries is asked for (G1).
    pub ordered: bool,
}

impl AtLeastOnceSpec {
    /// A source with the defaults of every further setting.
    pub const fn new(
        id: SourceId,
        name: Name,
        pattern: Pattern,
        durable: DurableName,
        max_deliver: NonZeroU32,
        bound: NonZeroUsize,
    ) -> Self {
        Self {
            id,
            name,
            pattern,
            durable,
            max_deliver,
            bound,
            fail_when_full: false,
            start_at: StartAt::New,
            slow_handler: SlowHandler::ExtendLease { max_processing_time: SlowHandler::DEFAULT_MAX_PROCESSING_TIME },
            ack_wait: None,
            ordered: false,
        }
    }

    /// Whether a full queue is told to the publisher.
    #[must_use]
    pub fn fail_when_full(self, fail_when_full: bool) -> Self {
        Self { fail_when_full, ..self }
    }

    /// Where a new identity begins.
    #[must_use]
    pub fn start_at(self, start_at: StartAt) -> Self {
        Self { start_at, ..self }
    }

    /// What happens when a handler is slow.
    #[must_use]
    pub fn slow_handler(self, slow_handler: SlowHandler) -> Self {
        Self { slow_handler, ..self }
    }

    /// The lease.
    #[must_use]
    pub fn ack_wait(self, ack_wait: impl Into<Option<Duration>>) -> Self {
        Self { ack_wait: ack_wait.into(), ..self }
    }

    /// Asks for publication order.
    #[must_use]
    pub fn ordered(self, ordered: bool) -> Self {
        Self { ordered, ..self }
    }
}
