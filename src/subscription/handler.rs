//! What a handler is, and what a bus gives it.

use std::{fmt, future::Future, marker::PhantomData, num::NonZeroU32, sync::Arc, time::Duration};

use super::{Cancelled, Judgement, Publisher, Rejection, Subscription, sealed::Sealed};
use crate::{
    codec::Codec,
    event::{Event, UriReference},
    subject::Subject,
};

/// What a bus gives its handlers: the type of its state and its codec, in one parameter. Sealed: it is always a [`Cx`].
pub trait BusContext: Sealed + Send + Sync + 'static {
    /// The bus's state.
    type State: Send + Sync + 'static;
    /// The bus's codec.
    type Codec: Codec;
}

/// The context of a bus with state `S` and codec `C`.
#[derive(Debug)]
pub struct Cx<S, C>(PhantomData<fn() -> (S, C)>);

impl<S, C> Sealed for Cx<S, C> {}

impl<S: Send + Sync + 'static, C: Codec> BusContext for Cx<S, C> {
    type State = S;
    type Codec = C;
}

/// A handler that a bus of context `X` can call. Implemented by `#[subscription]` and `#[responder]`, and by the run-time
/// builders.
pub trait Handler<X: BusContext>: Subscription {
    /// Handles one delivery.
    ///
    /// # Errors
    /// An extractor could not be made, so that the handler was not entered.
    ///
    /// # Cancel safety
    /// The future is dropped when the budget of a stop is used up; the bus accounts for the delivery.
    fn handle<'d>(&'d self, parts: Parts<'d, X>) -> impl Future<Output = Result<Judgement, Rejection>> + Send + 'd;
}

/// What one delivery offers to extractors. All of it is borrowed, so nothing is copied that no extractor asks for.
pub struct Parts<'d, X: BusContext> {
    pub(crate) surroundings: &'d Surroundings<X>,
    pub(crate) subject: &'d Subject,
    pub(crate) event: &'d Event,
    pub(crate) attempt: NonZeroU32,
}

impl<X: BusContext> Clone for Parts<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X: BusContext> Copy for Parts<'_, X> {}

impl<'d, X: BusContext> Parts<'d, X> {
    /// The concrete subject.
    pub fn subject(&self) -> &'d Subject {
        self.subject
    }

    /// The event.
    pub fn event(&self) -> &'d Event {
        self.event
    }

    /// The number of this attempt, from 1.
    pub fn attempt(&self) -> NonZeroU32 {
        self.attempt
    }

    /// The bus's state.
    pub fn state(&self) -> &'d X::State {
        &self.surroundings.state
    }

    /// The bus's source (contract P3).
    pub fn source(&self) -> &'d UriReference {
        self.surroundings.publisher.source()
    }

    /// The longest delay that a decline may ask for.
    pub(crate) fn longest_delay(&self) -> Duration {
        self.surroundings.longest_delay
    }
}

impl<X: BusContext> fmt::Debug for Parts<'_, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("subject", self.subject)
            .field("event", self.event)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// What surrounds every delivery of one source.
pub(crate) struct Surroundings<X: BusContext> {
    pub(crate) state: Arc<X::State>,
    pub(crate) cancelled: Cancelled,
    pub(crate) publisher: Publisher<X::Codec>,
    pub(crate) longest_delay: Duration,
}
