//! One generation of a live subscription, owned by the backend.

use std::{error::Error, fmt, future::Future, num::NonZeroU32, sync::Arc};

use futures_core::Stream;

use super::{Settle, Settlement};
use crate::{event::Event, subject::Subject};

/// What a subscription reads from, from one subscribe to its retire.
///
/// It comes in two halves: the stream, which the consumer's readers poll, and the control, which their supervisor keeps.
/// The stream may be dropped before `retire` is called, or after it, so what is under way on its behalf, such as a pull
/// that is still open at the broker, is to be reachable from the control.
pub trait Source: Send + 'static {
    /// Settles one delivery of this source.
    type Settler: Settle;
    /// The deliveries. Polling is the demand, so a reader that does not poll is back-pressure. An always-ready stream
    /// takes part in cooperative scheduling, or it starves the timers of its thread.
    type Deliveries: Stream<Item = Incoming<Self::Settler>> + Send + 'static;
    /// Reads the counters, and ends the source.
    type Control: SourceControl;

    /// Gives the two halves.
    fn split(self) -> (Self::Deliveries, Self::Control);
}

/// Reads a source's counters and ends it.
pub trait SourceControl: Send + Sync + 'static {
    /// A reading without a round trip, in constant time, advisory (contract N6).
    fn snapshot(&self) -> SourceStats;

    /// Closes admission, leaves the group, waits out enqueues in progress, ends the stream, and returns counters that
    /// never change again; repeated, it returns the same (contract N7). After it the stream yields nothing: what was
    /// not handed over is the reading's `pending`.
    ///
    /// # Errors
    /// The source may still be live; the bus tries again and does not go on.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    fn retire(&self, reason: RetireReason) -> impl Future<Output = Result<FinalReading, RetireError>> + Send;
}

/// Why a source is retired (contract N7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetireReason {
    /// Its consumer failed and will subscribe again: a durable identity's backlog is kept.
    Restarting,
    /// The bus stops: a durable identity's backlog is kept while the session lives.
    Stopping,
    /// Its consumer failed for good: the identity leaves the routing, and what it is owed is given up.
    GivenUp,
}

/// The last reading of a source.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FinalReading {
    /// Counters that never change again.
    pub stats: SourceStats,
    /// Why the source ended by itself, if it did (contract N8).
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl FinalReading {
    /// The reading of a source that was retired.
    pub const fn new(stats: SourceStats) -> Self {
        Self { stats, cause: None }
    }

    /// The reading of a source that had ended by itself.
    #[must_use]
    pub fn ended_by(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(Arc::from(cause.into())), ..self }
    }
}

/// A source could not be retired and may still be live.
#[derive(Debug, thiserror::Error)]
#[error("the source did not retire")]
#[non_exhaustive]
pub struct RetireError {
    /// What the client library said.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

impl RetireError {
    /// Wraps what the client library said.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}

/// What a source counts; everything else in the ledger is the bus's (contract L11).
///
/// At every reading `accepted = handed over + pending + evicted` (L2). One is made from `SourceStats::default()`, by setting
/// fields of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceStats {
    /// Messages that entered the queue.
    pub accepted: u64,
    /// Messages in the queue that were not handed over yet.
    pub pending: u64,
    /// Newcomers that never entered (contract B3).
    pub refused: u64,
    /// Incumbents that made way for a newcomer (B3).
    pub evicted: u64,
    /// Messages that ran out of attempts.
    pub exhausted: u64,
    /// Leases that ended before their delivery was settled.
    pub lease_expired: u64,
    /// Delays that could not be held in full (O3).
    pub delay_shortened: u64,
    /// How often the link or the client lost messages that nobody could count: what was published meanwhile is not in any
    /// number. No term of L4.
    pub interruptions: u64,
}

impl SourceStats {
    /// How many messages left through the stream.
    pub const fn handed_over(&self) -> u64 {
        self.accepted.saturating_sub(self.pending).saturating_sub(self.evicted)
    }
}

/// An event and where it was published.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// The concrete subject (contract S11).
    pub subject: Subject,
    /// The event.
    pub event: Event,
}

/// One attempt at one message, on its way from a backend to the bus.
#[derive(Debug)]
#[non_exhaustive]
pub struct Incoming<S> {
    /// The event with its subject, or what is wrong with what arrived in its place (contract Q10).
    pub message: Result<Message, Malformed>,
    /// The backend's number for this attempt, from 1; a backend that does not count says 1 (M4).
    pub attempt: NonZeroU32,
    /// Settles it.
    pub settler: S,
}

impl<S> Incoming<S> {
    /// A first attempt at a valid event.
    pub const fn new(subject: Subject, event: Event, settler: S) -> Self {
        Self { message: Ok(Message { subject, event }), attempt: NonZeroU32::MIN, settler }
    }

    /// A first attempt at a message.
    pub const fn of(message: Message, settler: S) -> Self {
        Self { message: Ok(message), attempt: NonZeroU32::MIN, settler }
    }

    /// A first attempt at what is no valid event.
    pub const fn malformed(malformed: Malformed, settler: S) -> Self {
        Self { message: Err(malformed), attempt: NonZeroU32::MIN, settler }
    }

    /// The same, as the attempt of that number.
    #[must_use]
    pub fn attempt(self, attempt: NonZeroU32) -> Self {
        Self { attempt, ..self }
    }
}

impl<S: Settle> Incoming<S> {
    /// Gives the delivery up with this settlement.
    ///
    /// # Errors
    /// What the settler says.
    pub fn settle(self, settlement: Settlement) -> impl Future<Output = Result<(), super::SettleError>> + Send {
        self.settler.settle(settlement)
    }
}

/// What is wrong with a message that is no valid event, or was sent to no valid subject (contract Q10).
///
/// Boxed, since it travels where the messages do, of which it is rarely one.
#[derive(Debug)]
pub struct Malformed(Box<Flaw>);

#[derive(Debug)]
struct Flaw {
    address: Option<String>,
    source: Box<dyn Error + Send + Sync>,
}

impl Malformed {
    /// Wraps what the reader of the format said.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Box::new(Flaw { address: None, source: source.into() }))
    }

    /// Says where the broker has it from, for the log.
    #[must_use]
    pub fn at(mut self, address: impl Into<String>) -> Self {
        self.0.address = Some(address.into());
        self
    }

    /// Where the broker has it from, in the broker's own words, if that was said.
    pub fn address(&self) -> Option<&str> {
        self.0.address.as_deref()
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a valid event")
    }
}

impl Error for Malformed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0.source)
    }
}
