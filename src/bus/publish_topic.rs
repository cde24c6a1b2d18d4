//! A publish of a topic's value, which has its subject from the value.

use std::{fmt, future::IntoFuture, time::Duration};

use super::publish::{BoxedPublish, Origin, publish_now, publish_when_room};
use crate::{
    contract::{Backend, FailsWhenFull, PublishError},
    event::Event,
    subject::Subject,
};

/// A publish of a topic's value. It does nothing until it is awaited.
///
/// # Cancel safety
/// As [`Publish`](super::Publish).
#[must_use = "a publish does nothing until it is awaited"]
pub struct PublishTopic<'a, B: Backend> {
    origin: Origin<'a, B>,
    prepared: Prepared,
}

/// What is published, or why nothing is.
type Prepared = Result<(Subject, Event), PublishError>;

impl<'a, B: Backend> PublishTopic<'a, B> {
    pub(super) fn new(origin: Origin<'a, B>, prepared: Prepared) -> Self {
        Self { origin, prepared }
    }

    /// Waits for room instead of failing, as [`Publish::when_room`](super::Publish::when_room) does (contract B9).
    pub fn when_room(self) -> PublishTopicWhenRoom<'a, B>
    where
        B: FailsWhenFull,
    {
        let start = |origin, prepared: Prepared, within| -> BoxedPublish<'a> {
            Box::pin(async move {
                let (subject, event) = prepared?;
                publish_when_room::<B>(origin, &subject, event, within).await
            })
        };
        PublishTopicWhenRoom { publish: self, within: None, start }
    }
}

impl<'a, B: Backend> IntoFuture for PublishTopic<'a, B> {
    type Output = Result<(), PublishError>;
    type IntoFuture = BoxedPublish<'a>;

    fn into_future(self) -> BoxedPublish<'a> {
        let Self { origin, prepared } = self;
        Box::pin(async move {
            let (subject, event) = prepared?;
            publish_now::<B>(origin, &subject, Ok(event)).await
        })
    }
}

impl<B: Backend> fmt::Debug for PublishTopic<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.prepared.as_ref().map(|(subject, _)| subject);
        f.debug_struct("PublishTopic").field("subject", &subject).finish_non_exhaustive()
    }
}

/// A publish of a topic's value that waits for room (contract B9).
///
/// # Cancel safety
/// As [`WhenRoom`](super::WhenRoom).
#[must_use = "a publish does nothing until it is awaited"]
pub struct PublishTopicWhenRoom<'a, B: Backend> {
    publish: PublishTopic<'a, B>,
    within: Option<Duration>,
    start: fn(Origin<'a, B>, Prepared, Option<Duration>) -> BoxedPublish<'a>,
}

impl<B: Backend> PublishTopicWhenRoom<'_, B> {
    /// Gives up after this long, counted from where it begins to wait, with [`PublishError::NoRoomInTime`].
    pub fn within(self, deadline: Duration) -> Self {
        Self { within: Some(deadline), ..self }
    }
}

impl<'a, B: Backend> IntoFuture for PublishTopicWhenRoom<'a, B> {
    type Output = Result<(), PublishError>;
    type IntoFuture = BoxedPublish<'a>;

    fn into_future(self) -> BoxedPublish<'a> {
        (self.start)(self.publish.origin, self.publish.prepared, self.within)
    }
}

impl<B: Backend> fmt::Debug for PublishTopicWhenRoom<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishTopicWhenRoom").field("publish", &self.publish).finish_non_exhaustive()
    }
}
