//! Request and reply: the capability, and what crosses the seam for it.

use std::{error::Error, fmt, future::Future, num::NonZeroUsize, time::Duration};

use super::{Backend, Settle, SettleError, Settlement, Source, SourceId, SubscribeError};
use crate::{
    event::{Event, EventBuilder, UriReference, Value},
    subject::{Group, Name, Pattern, Subject},
};

/// Request and reply (contract R).
#[diagnostic::on_unimplemented(
    message = "backend `{Self}` cannot answer requests",
    label = "asks for request and reply",
    note = "publish an event and subscribe to the answer, or take a backend that answers requests"
)]
pub trait AnswersRequests: Backend {
    /// What a responder reads: at most once, each delivery with its reply address.
    type Requests: Source<Settler = ReplyTo<Self::Replier>>;
    /// Answers one request, once.
    type Replier: Reply;

    /// Opens a responder's source: one member of a group, at most once (R9). Returns once the broker has confirmed it.
    ///
    /// A newcomer that does not fit into the bound is refused and counted as such; where it was a request and the link
    /// allows, it gets [`FailureReason::Full`] as its reply at once (R10). A request whose reply address is dropped
    /// unanswered, at a retire for example, gets [`FailureReason::Stopping`].
    ///
    /// # Cancel safety
    /// Dropped half way, as a stop does, it leaves nothing subscribed.
    fn responder(
        session: &Self::Session,
        spec: ResponderSpec,
    ) -> impl Future<Output = Result<Self::Requests, SubscribeError>> + Send;

    /// Sends a request and waits for its reply, at most until `within` has passed (R1). A failure reply is a reply.
    ///
    /// # Errors
    /// [`RequestError::NoResponders`] promptly where nobody receives it, [`RequestError::QueueFull`] where a subscription
    /// that fails when full turned it away, [`RequestError::NoReply`] at the deadline, [`RequestError::Closed`] once the
    /// session is closed, also for a request that waits then.
    ///
    /// # Cancel safety
    /// Dropping the future gives the request up; a late reply is unclaimed.
    fn request(
        session: &Self::Session,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> impl Future<Output = Result<Event, RequestError>> + Send;

    /// How many replies arrived after their request had finished. Never blocks, and stays readable after close (R11).
    fn unclaimed(session: &Self::Session) -> u64;
}

/// A responder's source: competing, and at most once (contract R9).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResponderSpec {
    /// Which source this will be.
    pub id: SourceId,
    /// The subscription's name, for errors and logs.
    pub name: Name,
    /// The subjects it answers on; without a wildcard it is one subject.
    pub pattern: Pattern,
    /// The group whose members compete for requests.
    pub group: Group,
    /// How many requests it holds at most (B1).
    pub bound: NonZeroUsize,
    /// Makes the reply to a request that the backend itself turns away.
    pub failure: FailureReply,
}

impl ResponderSpec {
    /// A responder's source.
    pub const fn new(
        id: SourceId,
        name: Name,
        pattern: Pattern,
        group: Group,
        bound: NonZeroUsize,
        failure: FailureReply,
    ) -> Self {
        Self { id, name, pattern, group, bound, failure }
    }
}

/// Sends one reply. Replying consumes it (contract R6).
///
/// Dropped unused, it answers with [`FailureReason::Stopping`] where that needs no waiting.
pub trait Reply: Send + 'static {
    /// Sends the reply.
    ///
    /// A reply that went out and that nobody waits for any more is `Ok` here, and unclaimed at its requester (R4).
    ///
    /// Where it is the reply itself that cannot go out, such as one that is too large, its requester gets
    /// [`FailureReason::BadReply`] in its place, and this is an error all the same (R6).
    ///
    /// # Errors
    /// The reply did not go out: the link is gone, the session is closed, or the backend does not carry such an event.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the reply went out.
    fn reply(self, event: Event) -> impl Future<Output = Result<(), ReplyError>> + Send;
}

/// The reply address of one delivery to a responder, or none if it was published and not requested (contract R8).
#[derive(Debug)]
pub struct ReplyTo<R>(Option<R>);

impl<R> ReplyTo<R> {
    /// The address of a request.
    pub const fn request(replier: R) -> Self {
        Self(Some(replier))
    }

    /// No address: the message was published.
    pub const fn nobody() -> Self {
        Self(None)
    }

    /// The address, to answer once.
    pub fn into_replier(self) -> Option<R> {
        self.0
    }
}

/// A responder's deliveries are never settled: this does nothing (contract T14).
impl<R: Reply> Settle for ReplyTo<R> {
    async fn settle(self, _settlement: Settlement) -> Result<(), SettleError> {
        Ok(())
    }

    async fn answer(self, reply: Event) -> Option<Result<(), ReplyError>> {
        match self.0 {
            Some(replier) => Some(replier.reply(reply).await),
            None => None,
        }
    }
}

/// The extension attribute that marks a failure reply (contract R7). An application's event does not carry it.
pub const FAILURE_ATTRIBUTE: &str = "busfailure";

/// Why a request got a failure reply. What exactly went wrong stays with the responder, logged and counted (contract R6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureReason {
    /// The responder returned an error.
    Error,
    /// The responder panicked.
    Panic,
    /// The request is no valid event, or its payload could not be decoded.
    Undecodable,
    /// The reply could not be sent as it was: it was no valid event, too large, or carried the reserved attribute.
    BadReply,
    /// The responder was at its bound; trying again later may help.
    Full,
    /// The responder stopped before it could answer; trying again may help.
    Stopping,
}

impl FailureReason {
    /// Every reason.
    pub const ALL: [Self; 6] =
        [Self::Error, Self::Panic, Self::Undecodable, Self::BadReply, Self::Full, Self::Stopping];

    /// The value of the attribute.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Panic => "panic",
            Self::Undecodable => "undecodable",
            Self::BadReply => "bad-reply",
            Self::Full => "full",
            Self::Stopping => "stopping",
        }
    }

    /// Why this reply is a failure reply, or none if it is a reply. A reason that is not known counts as
    /// [`Error`](Self::Error).
    pub fn of(reply: &Event) -> Option<Self> {
        let said = reply.extension(FAILURE_ATTRIBUTE)?;
        let known = |reason: &Self| matches!(said, Value::String(said) if said == reason.as_str());
        Some(Self::ALL.into_iter().find(known).unwrap_or(Self::Error))
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "the responder returned an error",
            Self::Panic => "the responder panicked",
            Self::Undecodable => "the responder could not decode the request",
            Self::BadReply => "the responder's reply could not be sent",
            Self::Full => "the responder is at its bound",
            Self::Stopping => "the responder stopped before it could answer",
        })
    }
}

/// Makes failure replies in the name of one service (contract R7, C26).
#[derive(Debug, Clone)]
pub struct FailureReply {
    source: UriReference,
}

impl FailureReply {
    /// The type of the events.
    pub const EVENT_TYPE: &'static str = "tramline.failure";

    /// Failure replies that name this source.
    pub const fn new(source: UriReference) -> Self {
        Self { source }
    }

    /// One failure reply, with an identity of its own.
    pub fn event(&self, reason: FailureReason) -> Event {
        EventBuilder::fresh(self.source.clone(), Self::EVENT_TYPE.into(), None)
            .extension(FAILURE_ATTRIBUTE, reason.as_str())
            .build()
            .expect("every attribute is valid by construction")
    }
}

/// Why a request has no reply, or no good one (contract R3).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The bus is not started, is between two activations, or has begun to stop (contract Y5). Nothing was sent.
    #[error("the bus is not running: start it first, or wait until it is ready")]
    NotReady,
    /// The event carries an attribute that only the bus may set. Nothing was sent (R7).
    #[error("the attribute `{attribute}` is reserved: leave it out")]
    Reserved {
        /// The attribute.
        attribute: &'static str,
    },
    /// The value, or what was said of it, makes no valid event. Nothing was sent.
    #[error("the value cannot be sent as an event")]
    Value {
        /// What the codec or the event said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The event is larger than the backend carries.
    #[error("the event has {size} bytes, and the backend carries at most {limit}")]
    TooLarge {
        /// The size as the backend counts it, in bytes.
        size: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A subscription to the same subject that fails when full is at its bound (B2, B8): nobody received the request, and
    /// trying again is safe.
    #[error(
        "the queue of subscription `{subscription}` is full, so nobody got the request: try again later, or give it a larger `bound`"
    )]
    QueueFull {
        /// The subscription that is full.
        subscription: Name,
    },
    /// Nobody received it: trying again is safe.
    #[error("nobody answers on this subject")]
    NoResponders,
    /// The deadline passed. Whether somebody received it is not known.
    #[error("no reply within {within:?}")]
    NoReply {
        /// The deadline that was asked for.
        within: Duration,
    },
    /// Somebody received it and did not answer it.
    #[error("{reason}")]
    ResponderFailed {
        /// Why, as far as the responder tells.
        reason: FailureReason,
    },
    /// Somebody answered, and the reply is not such a value.
    #[error("the reply, an event of type `{}`, cannot be decoded", reply.event_type())]
    Undecodable {
        /// The reply.
        reply: Event,
        /// What the codec said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The session was closed.
    #[error("the session is closed")]
    Closed,
    /// The link failed.
    #[error("the request failed on its way")]
    Failed {
        /// What the client library said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A reply could not be sent.
#[derive(Debug, thiserror::Error)]
#[error("the reply could not be sent")]
#[non_exhaustive]
pub struct ReplyError {
    /// What the client library said.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

impl ReplyError {
    /// Wraps what the client library said.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}
