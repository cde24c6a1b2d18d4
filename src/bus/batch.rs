//! Many publishes at once.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
};

use super::publish::{BoxedPublish, Origin, publish_owned, publish_owned_when_room};
use crate::{
    contract::{Backend, FailsWhenFull},
    event::Event,
    subject::Subject,
    subscription::{Addressed, BatchReport, WINDOW, publish_all},
};

/// A publish of many events. It does nothing until it is awaited.
///
/// # Cancel safety
/// Dropped before it is ready, it has sent a first part of the events, in their order; whether the last 256 of those were
/// taken is open, each on its own. There is no report then.
#[must_use = "a publish does nothing until it is awaited"]
pub struct PublishBatch<'a, B: Backend> {
    origin: Origin<'a, B>,
    /// Of one type, so that a batch of something else is one error and not two.
    events: Box<dyn Iterator<Item = (Subject, Event)> + Send + 'a>,
    /// Whether each waits for room, and how.
    when_room: Option<WhenRoom<'a, B>>,
}

type WhenRoom<'a, B> = fn(Origin<'a, B>, Subject, Event) -> BoxedPublish<'a>;

impl<'a, B: Backend> PublishBatch<'a, B> {
    pub(super) fn new<I>(origin: Origin<'a, B>, events: I) -> Self
    where
        I: IntoIterator<Item: Addressed + 'a, IntoIter: Send + 'a>,
    {
        Self { origin, events: Box::new(events.into_iter().map(Addressed::addressed)), when_room: None }
    }

    /// Waits for room instead of failing when a subscription that fails when full is at its bound (contract B9). Cut off by
    /// stopping.
    ///
    /// An event is then sent when the one before it has been taken, so that none overtakes another while it waits.
    pub fn when_room(self) -> Self
    where
        B: FailsWhenFull,
    {
        Self {
            when_room: Some(|origin, subject, event| Box::pin(publish_owned_when_room(origin, subject, event, None))),
            ..self
        }
    }
}

impl<'a, B: Backend> IntoFuture for PublishBatch<'a, B> {
    type Output = BatchReport;
    type IntoFuture = Pin<Box<dyn Future<Output = BatchReport> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { origin, events, when_room } = self;
        match when_room {
            None => Box::pin(publish_all(WINDOW, events, move |subject, event| publish_owned(origin, subject, event))),
            Some(publish) => Box::pin(publish_all(1, events, move |subject, event| publish(origin, subject, event))),
        }
    }
}

impl<B: Backend> fmt::Debug for PublishBatch<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishBatch").field("when_room", &self.when_room.is_some()).finish_non_exhaustive()
    }
}
