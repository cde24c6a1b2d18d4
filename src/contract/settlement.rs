//! What the bus asks a backend to do with a delivery.

use std::{
    error::Error,
    future::{Future, ready},
    num::NonZeroU32,
    time::Duration,
};

use super::ReplyError;
use crate::event::Event;

/// What became of one delivery (contract T2).
///
/// A backend treats an outcome that it does not know as [`Nacked`](Outcome::Nacked) (T5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The handler did not accept it: it failed, panicked, or the payload could not be decoded. Treated as a decline.
    Silent,
    /// Done; never again.
    Acked,
    /// Declined; it comes back while attempts remain.
    Nacked,
    /// Given back unjudged: the bus let the delivery go. Spends no attempt where the backend can help it, and never
    /// exhausts a message.
    Returned,
    /// Nobody says this but the conformance suite, in the place of every outcome that is yet to come (T5): no backend
    /// names it, and each treats it as a decline.
    #[doc(hidden)]
    Unheard,
}

impl Outcome {
    /// Whether a message comes back that came to this at that attempt (contract T2).
    pub(crate) fn comes_back(self, attempt: NonZeroU32, max_deliver: NonZeroU32) -> bool {
        match self {
            Self::Acked => false,
            Self::Returned => true,
            Self::Silent | Self::Nacked | Self::Unheard => attempt < max_deliver,
        }
    }
}

/// An outcome, and how long the message is to be held back before its next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settlement {
    /// What became of the delivery.
    pub outcome: Outcome,
    /// The least time until the next attempt; zero is at once. Means nothing with [`Outcome::Acked`].
    pub delay: Duration,
}

impl Settlement {
    /// A settlement without a delay.
    #[inline]
    pub const fn new(outcome: Outcome) -> Self {
        Self { outcome, delay: Duration::ZERO }
    }

    /// The same outcome, not to be offered again before `delay` has passed (contract O3).
    #[must_use]
    pub const fn after(self, delay: Duration) -> Self {
        Self { outcome: self.outcome, delay }
    }
}

/// Settles one delivery, at most once: settling consumes it (contract T4).
///
/// Dropped unsettled, a delivery counts as returned where the backend can do that without waiting; else its lease
/// decides. Nothing is ever held for ever.
pub trait Settle: Send + 'static {
    /// Performs the settlement. Also called after the source was retired and after the session was closed, and then
    /// refuses promptly (T6).
    ///
    /// # Cancel safety
    /// A dropped future leaves the message either settled or unacknowledged.
    fn settle(self, settlement: Settlement) -> impl Future<Output = Result<(), SettleError>> + Send;

    /// Replies to the request that this delivery is; `None` where nobody asked (contract R8).
    ///
    /// For a bus that holds any delivery. Only a [`ReplyTo`](super::ReplyTo) knows whom to reply to, so a backend leaves
    /// this as it is.
    fn answer(self, _reply: Event) -> impl Future<Output = Option<Result<(), ReplyError>>> + Send
    where
        Self: Sized,
    {
        ready(None)
    }
}

/// The settler of a delivery that was settled before anybody saw it: at most once (contract M1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NothingToSettle;

impl Settle for NothingToSettle {
    async fn settle(self, _settlement: Settlement) -> Result<(), SettleError> {
        Ok(())
    }
}

/// The backend could not perform a settlement; the message is unacknowledged at the broker (contract T6).
#[derive(Debug, thiserror::Error)]
#[error("the settlement was refused")]
#[non_exhaustive]
pub struct SettleError {
    /// What stood in the way: source retired, session closed, broker gone, lease lost, stale token.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

impl SettleError {
    /// A refusal with what stood in the way.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}
