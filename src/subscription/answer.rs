//! What a responder's return value says: the reply to its request.

use std::{borrow::Cow, fmt};

use super::{
    Judgement, Rejection,
    publisher::{built, value_builder},
};
use crate::{
    codec::{Codec, Encodes},
    event::{Event, UriReference},
};

/// A return value that is a reply, on a bus with codec `C` (contract R6).
///
/// It is an [`Event`], a [`ReplyValue`], or a `Result` of one of them, whose error is counted and logged; the requester
/// then gets a failure reply that does not show the error. With `reply = ".."` in its attribute a responder returns the
/// value itself.
#[diagnostic::on_unimplemented(
    message = "a responder cannot reply with `{Self}` as it is",
    label = "not an event",
    note = "name the type of the event that carries it: add `reply = \"com.example.quote.v1\"` to `#[responder(..)]`",
    note = "or return an `Event`, a `ReplyValue`, or a `Result` of one of them"
)]
pub trait Answer<C: Codec> {
    /// What the value says. `source` is the bus's, for the event that is made.
    fn answer(self, source: &UriReference) -> Judgement;
}

/// A value, and the type of the event that carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyValue<T> {
    event_type: Cow<'static, str>,
    value: T,
}

impl<T> ReplyValue<T> {
    /// Replies with this value, as an event of this type (contract P2).
    pub fn new(event_type: impl Into<Cow<'static, str>>, value: T) -> Self {
        Self { event_type: event_type.into(), value }
    }
}

impl<C: Codec> Answer<C> for Event {
    fn answer(self, _source: &UriReference) -> Judgement {
        Judgement::reply(self)
    }
}

impl<T, C: Encodes<T>> Answer<C> for ReplyValue<T> {
    fn answer(self, source: &UriReference) -> Judgement {
        value::<C, T>(&self.value, self.event_type, source)
    }
}

impl<C: Codec, V: Answer<C>, E: fmt::Display> Answer<C> for Result<V, E> {
    fn answer(self, source: &UriReference) -> Judgement {
        match self {
            Ok(answer) => answer.answer(source),
            Err(error) => Judgement::failed(&error),
        }
    }
}

/// The reply that carries a value, or why there is none.
pub(super) fn value<C: Encodes<T>, T>(
    value: &T,
    event_type: impl Into<Cow<'static, str>>,
    source: &UriReference,
) -> Judgement {
    match value_builder::<C, T>(source, event_type, value).and_then(built) {
        Ok(event) => Judgement::reply(event),
        Err(error) => Judgement::bad_reply(&Rejection::new(error)),
    }
}
