//! What a handler can take as arguments.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    num::NonZeroU32,
    ops::{Deref, DerefMut},
};

use tokio_util::sync::CancellationToken;

use super::{BusContext, Delivery, Mode, Parts, Publisher, Settles};
use crate::{
    codec::{self, Decodes},
    event::{Event, Value},
    subject::Subject,
};

/// An argument of a handler on a bus of context `X`, in mode `M`.
///
/// `'d` is the delivery's lifetime, from which an extractor may borrow. Implement it to add extractors of your own:
///
/// ```
/// use tramline::subscription::{BusContext, Extract, Mode, Parts, Rejection};
///
/// struct Tenant(String);
///
/// impl<'d, X: BusContext, M: Mode> Extract<'d, X, M> for Tenant {
///     fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
///         match parts.subject().as_str().split('.').next() {
///             Some(tenant) => Ok(Self(tenant.to_owned())),
///             None => Err(Rejection::new("the subject names no tenant")),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "an `{M}` handler cannot take `{Self}`",
    label = "not an argument of this handler",
    note = "take `Payload<T>` for what the event carries, `State<T>` for a part of the bus's state, or one of those below",
    note = "`Delivery<..>` has the subscription's own mode: `AtMostOnce`, `AtLeastOnce`, with a delay `AtLeastOnce<Delayed>`; a responder has none"
)]
pub trait Extract<'d, X: BusContext, M: Mode>: Sized {
    /// Makes the argument.
    ///
    /// # Errors
    /// A [`Rejection`]: the handler is not entered. At most once the message is lost as undecodable; at least once it is
    /// declined, so that it runs out of attempts (contract L6).
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection>;
}

/// Why an extractor could not be made.
#[derive(Debug)]
pub struct Rejection(Box<dyn Error + Send + Sync>);

impl Rejection {
    /// A rejection with its reason.
    pub fn new(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// The value that the event carries, read by the bus's codec. It may borrow from the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload<T>(pub T);

impl<T> Deref for Payload<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Payload<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<'d, X: BusContext, M: Mode, T> Extract<'d, X, M> for Payload<T>
where
    X::Codec: Decodes<'d, T>,
{
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        codec::decode::<X::Codec, T>(parts.event).map(Payload).map_err(Rejection::new)
    }
}

/// A part of the bus's state, cloned for this delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State<T>(pub T);

/// A part of a bus's state `S`.
#[diagnostic::on_unimplemented(
    message = "the bus's state `{S}` does not hold a `{Self}`",
    label = "asks for state that this bus does not have",
    note = "give the bus its state with `.state(..)` before `.subscribe(..)`, and implement `FromState<{S}>` for `{Self}` where it is a part of it"
)]
pub trait FromState<S> {
    /// Takes the part.
    fn from_state(state: &S) -> Self;
}

impl<S: Clone> FromState<S> for S {
    fn from_state(state: &S) -> S {
        state.clone()
    }
}

impl<'d, X: BusContext, M: Mode, T: FromState<X::State>> Extract<'d, X, M> for State<T> {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(Self(T::from_state(parts.state())))
    }
}

impl<'d, X: BusContext, M: Mode> Extract<'d, X, M> for &'d Subject {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(parts.subject)
    }
}

impl<'d, X: BusContext, M: Mode> Extract<'d, X, M> for &'d Event {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(parts.event)
    }
}

/// The backend's number for this attempt, from 1 (contract M4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt(pub NonZeroU32);

impl<'d, X: BusContext, M: Settles> Extract<'d, X, M> for Attempt {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(Self(parts.attempt))
    }
}

/// An extension attribute, by a type that names it.
///
/// ```
/// use tramline::{event::Value, subscription::ExtensionAttribute};
///
/// struct PartitionKey(String);
///
/// impl ExtensionAttribute for PartitionKey {
///     const NAME: &'static str = "partitionkey";
///
///     fn from_value(value: Option<&Value>) -> Result<Self, String> {
///         match value {
///             Some(Value::String(key)) => Ok(Self(key.clone())),
///             _ => Err("text was expected".to_owned()),
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<T>(pub T);

/// An extension attribute that [`Extension`] can read.
pub trait ExtensionAttribute: Sized {
    /// The attribute's name.
    const NAME: &'static str;

    /// Reads it; `None` where the event does not have it.
    ///
    /// # Errors
    /// What is wrong with the value, in words.
    fn from_value(value: Option<&Value>) -> Result<Self, String>;
}

impl<'d, X: BusContext, M: Mode, T: ExtensionAttribute> Extract<'d, X, M> for Extension<T> {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        T::from_value(parts.event.extension(T::NAME))
            .map(Self)
            .map_err(|reason| Rejection::new(format!("extension attribute `{}`: {reason}", T::NAME)))
    }
}

/// Fires when the bus, or the handler's own consumer, begins to stop (contract Y7).
#[derive(Debug, Clone)]
pub struct Cancelled(CancellationToken);

impl Cancelled {
    pub(crate) fn new(token: CancellationToken) -> Self {
        Self(token)
    }

    /// Whether stopping has begun.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until stopping begins. Cancel safe.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.cancelled()
    }
}

impl<'d, X: BusContext, M: Mode> Extract<'d, X, M> for Cancelled {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(parts.surroundings.cancelled.clone())
    }
}

impl<'d, X: BusContext, M: Mode> Extract<'d, X, M> for Publisher<X::Codec> {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(parts.surroundings.publisher.clone())
    }
}

impl<'d, X: BusContext, M: Settles> Extract<'d, X, M> for Delivery<M> {
    fn extract(parts: &Parts<'d, X>) -> Result<Self, Rejection> {
        Ok(Self::new(parts.subject.clone(), parts.event.clone(), parts.attempt, parts.longest_delay()))
    }
}

/// The text of a panic's payload.
pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> Cow<'static, str> {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        Cow::Borrowed(text)
    } else if let Some(text) = payload.downcast_ref::<String>() {
        Cow::Owned(text.clone())
    } else {
        Cow::Borrowed("a panic without text")
    }
}
