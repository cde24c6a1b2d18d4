//! A publish on its way.

use std::{
    fmt,
    future::{Future, IntoFuture},
    time::Duration,
};

use super::{activation::Activation, core::Core};
use crate::{
    contract::{Backend, FailsWhenFull, PublishError, Session},
    event::Event,
    subject::Subject,
};

/// Where a publish comes from.
pub(super) enum Origin<'a, B: Backend> {
    /// A running bus. It cannot be stopped while it is borrowed, so its activation is there and stays (contract Y6).
    Bus(&'a Activation<B>),
    /// A handle, which asks for the activation that is live, if there is one (Y5).
    Handle(&'a Core<B>),
}

impl<B: Backend> Clone for Origin<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for Origin<'_, B> {}

/// An event, or why there is none. Small, since it is moved with the publish.
type Prepared = Result<Event, Box<PublishError>>;

async fn publish_now<B: Backend>(
    origin: Origin<'_, B>,
    subject: &Subject,
    event: Prepared,
) -> Result<(), PublishError> {
    let event = event.map_err(|error| *error)?;
    match origin {
        Origin::Bus(activation) => activation.session.publish(subject, event).await,
        Origin::Handle(core) => {
            let activation = core.activation.load();
            let Some(activation) = &*activation else { return Err(PublishError::NotReady) };
            let Some(_pass) = activation.gate.enter() else { return Err(PublishError::NotReady) };
            activation.session.publish(subject, event).await
        }
    }
}

async fn publish_when_room<B: FailsWhenFull>(
    origin: Origin<'_, B>,
    subject: &Subject,
    event: Prepared,
    within: Option<Duration>,
) -> Result<(), PublishError> {
    let event = event.map_err(|error| *error)?;
    match origin {
        Origin::Bus(activation) => B::publish_when_room(&activation.session, subject, event, within).await,
        // Boxed, since what can be cut off is large and would make every publish of a bus as large.
        Origin::Handle(core) => {
            Box::pin(async move {
                let activation = core.activation.load();
                let Some(activation) = &*activation else { return Err(PublishError::NotReady) };
                let Some(_pass) = activation.gate.enter() else { return Err(PublishError::NotReady) };
                tokio::select! {
                    // The publish first: most have room at once.
                    biased;
                    published = B::publish_when_room(&activation.session, subject, event, within) => published,
                    () = activation.stopping.cancelled() => Err(PublishError::NotReady),
                }
            })
            .await
        }
    }
}

/// A publish from a bus or a handle.
pub(super) fn publish<'a, B: Backend>(
    origin: Origin<'a, B>,
    subject: &'a Subject,
    event: Result<Event, PublishError>,
) -> Publish<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B>> {
    Publish { origin, subject, start: publish_now::<B>, event: event.map_err(Box::new) }
}

/// A publish. It does nothing until it is awaited.
///
/// # Cancel safety
/// Dropped before it is ready, it leaves open whether the event was taken; it is never taken in part.
#[must_use = "a publish does nothing until it is awaited"]
pub struct Publish<'a, B: Backend, F> {
    origin: Origin<'a, B>,
    subject: &'a Subject,
    event: Prepared,
    start: fn(Origin<'a, B>, &'a Subject, Prepared) -> F,
}

impl<'a, B: Backend, F> Publish<'a, B, F> {
    /// Waits for room instead of failing when a subscription that fails when full is at its bound (contract B9). Cut
    /// off by stopping; add [`within`](WhenRoom::within) for a deadline.
    pub fn when_room(self) -> WhenRoom<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B, F>>
    where
        B: FailsWhenFull,
    {
        let Self { origin, subject, event, .. } = self;
        WhenRoom { origin, subject, event, within: None, start: publish_when_room::<B> }
    }
}

impl<B: Backend, F: Future<Output = Result<(), PublishError>>> IntoFuture for Publish<'_, B, F> {
    type Output = F::Output;
    type IntoFuture = F;

    fn into_future(self) -> F {
        (self.start)(self.origin, self.subject, self.event)
    }
}

impl<B: Backend, F> fmt::Debug for Publish<'_, B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publish").field("subject", self.subject).finish_non_exhaustive()
    }
}

/// A publish that waits for room (contract B9). Through a handle it costs one allocation.
///
/// # Cancel safety
/// As [`Publish`]; while it waits for room nothing has been taken.
#[must_use = "a publish does nothing until it is awaited"]
pub struct WhenRoom<'a, B: Backend, F> {
    origin: Origin<'a, B>,
    subject: &'a Subject,
    event: Prepared,
    within: Option<Duration>,
    start: fn(Origin<'a, B>, &'a Subject, Prepared, Option<Duration>) -> F,
}

impl<B: Backend, F> WhenRoom<'_, B, F> {
    /// Gives up after this long, counted from where it begins to wait, with [`PublishError::NoRoomInTime`].
    pub fn within(self, deadline: Duration) -> Self {
        Self { within: Some(deadline), ..self }
    }
}

impl<B: Backend, F: Future<Output = Result<(), PublishError>>> IntoFuture for WhenRoom<'_, B, F> {
    type Output = F::Output;
    type IntoFuture = F;

    fn into_future(self) -> F {
        (self.start)(self.origin, self.subject, self.event, self.within)
    }
}

impl<B: Backend, F> fmt::Debug for WhenRoom<'_, B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenRoom").field("subject", self.subject).finish_non_exhaustive()
    }
}
