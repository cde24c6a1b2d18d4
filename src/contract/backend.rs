//! A backend, and one connected lifetime of it.

use std::{error::Error, future::Future, time::Duration};

use super::Capabilities;
use crate::{
    event::Event,
    subject::{Name, Subject, TopicError},
};

/// What connects a bus to a broker or, in memory, to none.
///
/// A value of this type is configuration: cheap, stateless, and built without I/O (contract N1). What it can do is said
/// by the further traits of this module that its type implements; nothing is implied, not even at most once.
///
/// Where the broker's configuration decides what is possible, there is one type per configuration, and [`open`]
/// compares the broker with what the type declares and answers [`OpenError::NotAsDeclared`].
///
/// [`open`]: Backend::open
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend",
    label = "asks for a backend here",
    note = "pass a backend such as `Memory::new()`, or implement `tramline::contract::Backend` for your own"
)]
pub trait Backend: Send + Sync + 'static {
    /// One connected lifetime.
    type Session: Session;

    /// What becomes of messages when the process or the broker restarts: [`Volatile`] or [`Persistent`].
    type Storage: Storage;

    /// The table of what this backend can do, as a value. Fill it with [`capabilities!`](crate::capabilities), which
    /// derives it from the trait implementations; there is no other way to make one.
    const CAPABILITIES: Capabilities;

    /// Connects. Called when a bus starts.
    ///
    /// Everything that this acquires is reachable from the session, or it leaks: that is the one obligation (N1).
    ///
    /// # Cancel safety
    /// A start that is given up drops this future; whatever it had acquired is released with it.
    fn open(&self) -> impl Future<Output = Result<Self::Session, OpenError>> + Send;
}

/// One connected lifetime of a backend.
///
/// Sessions of one bus come strictly one after the other: a new one is opened only after [`close`](Session::close) of
/// its predecessor has succeeded (N4).
pub trait Session: Send + Sync + 'static {
    /// Hands one event to the broker. A publish that matches nobody is `Ok`; on a log, a subject that no stream covers is
    /// an error (B8).
    ///
    /// Safe beside retire and close, and fails promptly once the session is closed (N2), also when a caller polls a
    /// future that it had kept from before.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready leaves it open whether the event was taken; it is never taken in part.
    fn publish(&self, subject: &Subject, event: Event) -> impl Future<Output = Result<(), PublishError>> + Send;

    /// Releases everything, its sources too. Idempotent; only its success permits a new session (N4).
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    fn close(&self) -> impl Future<Output = Result<(), CloseError>> + Send;
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be made a kind of storage",
        label = "not one of those there are",
        note = "the kinds are `Volatile` and `Persistent`: take one of them"
    )]
    pub trait Sealed {}
}

/// What a restart leaves: [`Volatile`] or [`Persistent`]. Sealed.
pub trait Storage: sealed::Sealed + Send + Sync + 'static {
    /// Whether an unacknowledged message outlives the process and the broker.
    const PERSISTENT: bool;
}

/// Nothing outlives a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volatile;

/// Unacknowledged messages outlive a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Persistent;

impl sealed::Sealed for Volatile {}
impl sealed::Sealed for Persistent {}

impl Storage for Volatile {
    const PERSISTENT: bool = false;
}

impl Storage for Persistent {
    const PERSISTENT: bool = true;
}

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The broker could not be reached or refused the connection. Trying again may help.
    #[error("the broker cannot be reached")]
    Unreachable {
        /// What the client library said. Never holds a secret.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The broker is configured otherwise than the backend's type declares.
    #[error("the broker is not as declared: {capability}: found {found}; {fix}")]
    NotAsDeclared {
        /// The capability that does not hold.
        capability: &'static str,
        /// What was found instead.
        found: String,
        /// How to mend it.
        fix: String,
    },
    /// A value in the backend's configuration cannot be used.
    #[error("the backend's setting `{setting}` is wrong: {value}: {fix}")]
    Setting {
        /// The setting's name.
        setting: &'static str,
        /// Its value, without secrets.
        value: String,
        /// How to mend it.
        fix: String,
    },
}

/// Why a publish did not happen. The event was not taken, in whole or in part, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The bus is not started, is between two activations, or has begun to stop (contract Y5). Nothing was held back.
    #[error("the bus is not running: start it first, or wait until it is ready")]
    NotReady,
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// The value, or what was said of it, makes no valid event.
    #[error("the value cannot be published as an event")]
    Value {
        /// What the codec or the event said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The value's topic gives it no subject.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// The event carries an attribute that only the bus may set (R7).
    #[error("the attribute `{attribute}` is reserved: leave it out")]
    Reserved {
        /// The attribute.
        attribute: &'static str,
    },
    /// A subscription that fails when full is at its bound (B2, B8): nobody got the event, and trying again is safe.
    #[error(
        "the queue of subscription `{subscription}` is full: try again later, wait with `when_room()`, or give it a larger `bound`"
    )]
    QueueFull {
        /// The subscription that is full.
        subscription: Name,
        /// The event, back.
        event: Event,
    },
    /// Room was awaited and did not come within the deadline (B9).
    #[error("no room in the queue of subscription `{subscription}` within {waited:?}")]
    NoRoomInTime {
        /// The subscription that was full last.
        subscription: Name,
        /// The event, back.
        event: Event,
        /// The deadline that was asked for.
        waited: Duration,
    },
    /// The event is larger than the backend carries.
    #[error("the event has {size} bytes, and the backend carries at most {limit}")]
    TooLarge {
        /// The size as the backend counts it, in bytes.
        size: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The link to the broker is down or the broker refused. Whether the event was taken is not known.
    #[error("the broker did not confirm the publish")]
    Unconfirmed {
        /// What the client library said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Why a session could not be closed. The bus tries again behind the caller's back (Y8).
#[derive(Debug, thiserror::Error)]
#[error("the session did not close")]
#[non_exhaustive]
pub struct CloseError {
    /// What the client library said.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

impl CloseError {
    /// Wraps what the client library said.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}

/// Why a source could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// The broker cannot do what one setting asks for.
    #[error("subscription `{subscription}`: `{setting} = {value}` is refused: {fix}")]
    Setting {
        /// The subscription's name.
        subscription: Name,
        /// The setting's name, as written in the attribute.
        setting: &'static str,
        /// The value that was asked for.
        value: String,
        /// How to mend it.
        fix: String,
    },
    /// The durable identity exists with another value in one field (I4).
    #[error(
        "durable `{durable}` exists with `{field} = {existing}`, and the subscription asks for `{asked}`: use the old value or another durable name"
    )]
    Reopened {
        /// The durable name.
        durable: String,
        /// The field that differs.
        field: &'static str,
        /// The value at the broker.
        existing: String,
        /// The value asked for.
        asked: String,
    },
    /// The broker could not be asked. Trying again may help.
    #[error("the broker did not confirm the subscription")]
    Unconfirmed {
        /// What the client library said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}
