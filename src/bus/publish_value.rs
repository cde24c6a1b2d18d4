//! A publish of a value, with what its event is to say besides.

use std::{fmt, future::IntoFuture, time::Duration};

use super::publish::{BoxedPublish, Origin, publish_owned, publish_owned_when_room};
use crate::{
    contract::{Backend, FailsWhenFull, PublishError},
    event::{Event, EventBuilder, Timestamp, Uri, Value},
    subject::Subject,
    subscription::built,
};

/// A publish of a value, of a topic or not. It does nothing until it is awaited.
///
/// Each option replaces what the event would have said of itself, its topic's schema too (contract P2). One that is not
/// valid makes the publish a [`PublishError::Value`] that names the attribute, and nothing is sent.
///
/// # Cancel safety
/// As [`Publish`](super::Publish).
#[must_use = "a publish does nothing until it is awaited"]
pub struct PublishValue<'a, B: Backend> {
    origin: Origin<'a, B>,
    event: Unbuilt,
}

/// What is to be published, or why nothing is. Small when it is an error, as it seldom is.
type Unbuilt = Result<(Subject, EventBuilder), Box<PublishError>>;

impl<'a, B: Backend> PublishValue<'a, B> {
    pub(super) fn new(origin: Origin<'a, B>, event: Result<(Subject, EventBuilder), PublishError>) -> Self {
        Self { origin, event: event.map_err(Box::new) }
    }

    /// Sets `id`, which with the bus's source identifies the event (contract Q8): for one that may be published again.
    pub fn id(self, id: impl Into<String>) -> Self {
        self.with(|event| event.id(id))
    }

    /// Sets `time`, when what the event tells of has happened.
    pub fn time(self, time: Timestamp) -> Self {
        self.with(|event| event.time(time))
    }

    /// Sets `dataschema`, the schema that the value follows.
    pub fn data_schema(self, schema: Uri) -> Self {
        self.with(|event| event.data_schema(schema))
    }

    /// Sets the attribute `subject`, what the event is about in the terms of its producer; not the subject that it is
    /// published on.
    pub fn subject_attribute(self, subject: impl Into<String>) -> Self {
        self.with(|event| event.subject(subject))
    }

    /// Sets an extension attribute (contract Q3).
    pub fn extension(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with(|event| event.extension(name, value))
    }

    /// Waits for room instead of failing, as [`Publish::when_room`](super::Publish::when_room) does (contract B9).
    pub fn when_room(self) -> PublishValueWhenRoom<'a, B>
    where
        B: FailsWhenFull,
    {
        let start = |origin, event: Built, within| -> BoxedPublish<'a> {
            Box::pin(async move {
                let (subject, event) = event?;
                publish_owned_when_room::<B>(origin, subject, event, within).await
            })
        };
        PublishValueWhenRoom { publish: self, within: None, start }
    }

    fn with(self, change: impl FnOnce(EventBuilder) -> EventBuilder) -> Self {
        Self { event: self.event.map(|(subject, event)| (subject, change(event))), ..self }
    }
}

/// The same, when no option can change it any more.
type Built = Result<(Subject, Event), PublishError>;

fn build(event: Unbuilt) -> Built {
    let (subject, event) = event.map_err(|error| *error)?;
    Ok((subject, built(event)?))
}

impl<'a, B: Backend> IntoFuture for PublishValue<'a, B> {
    type Output = Result<(), PublishError>;
    type IntoFuture = BoxedPublish<'a>;

    fn into_future(self) -> BoxedPublish<'a> {
        let Self { origin, event } = self;
        let event = build(event);
        Box::pin(async move {
            let (subject, event) = event?;
            publish_owned(origin, subject, event).await
        })
    }
}

impl<B: Backend> fmt::Debug for PublishValue<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishValue").field("event", &self.event).finish_non_exhaustive()
    }
}

/// A publish of a value that waits for room (contract B9).
///
/// # Cancel safety
/// As [`WhenRoom`](super::WhenRoom).
#[must_use = "a publish does nothing until it is awaited"]
pub struct PublishValueWhenRoom<'a, B: Backend> {
    publish: PublishValue<'a, B>,
    within: Option<Duration>,
    start: fn(Origin<'a, B>, Built, Option<Duration>) -> BoxedPublish<'a>,
}

impl<B: Backend> PublishValueWhenRoom<'_, B> {
    /// Gives up after this long, counted from where it begins to wait, with [`PublishError::NoRoomInTime`].
    pub fn within(self, deadline: Duration) -> Self {
        Self { within: Some(deadline), ..self }
    }
}

impl<'a, B: Backend> IntoFuture for PublishValueWhenRoom<'a, B> {
    type Output = Result<(), PublishError>;
    type IntoFuture = BoxedPublish<'a>;

    fn into_future(self) -> BoxedPublish<'a> {
        let PublishValue { origin, event } = self.publish;
        (self.start)(origin, build(event), self.within)
    }
}

impl<B: Backend> fmt::Debug for PublishValueWhenRoom<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishValueWhenRoom").field("publish", &self.publish).finish_non_exhaustive()
    }
}
