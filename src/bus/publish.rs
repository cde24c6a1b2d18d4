//! A publish on its way.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::task::coop::poll_proceed;

use super::{activation::Activation, core::Core, traces::Traces};
use crate::{
    contract::{Backend, FAILURE_ATTRIBUTE, FailsWhenFull, PublishError, Session},
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

impl<B: Backend> Origin<'_, B> {
    fn traces(&self) -> &Traces {
        match self {
            Self::Bus(activation) => &activation.traces,
            Self::Handle(core) => &core.observers.traces,
        }
    }
}

/// An event, or why there is none. Small, since it is moved with the publish.
pub(super) type Prepared = Result<Event, Box<PublishError>>;

/// An application's event as it goes out: it does not say what only the bus may say (contract R7), and it says which trace
/// it comes from.
#[inline]
pub(super) fn outgoing(event: Event, traces: &Traces) -> Prepared {
    // Most events have no extensions, and that is quick to see.
    if event.extensions().len() == 0 && traces.are_left_alone() { Ok(event) } else { look_closer(event, traces) }
}

/// Apart, so that the usual case stays small where it is inlined.
#[inline(never)]
fn look_closer(event: Event, traces: &Traces) -> Prepared {
    unreserved(event).map(|event| traces.set_on(event))
}

/// An application's event, which does not say what only the bus may say (contract R7).
pub(super) fn unreserved(event: Event) -> Prepared {
    match event.extension(FAILURE_ATTRIBUTE) {
        None => Ok(event),
        Some(_) => Err(Box::new(PublishError::Reserved { attribute: FAILURE_ATTRIBUTE })),
    }
}

pin_project! {
    /// A publish from a bus: the session's own future and nothing around it, or why there is none.
    #[project = ProjectedFromBus]
    enum FromBus<F> {
        Sent { #[pin] future: F },
        Refused { error: Option<Box<PublishError>> },
    }
}

impl<F: Future<Output = Result<(), PublishError>>> Future for FromBus<F> {
    type Output = Result<(), PublishError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            ProjectedFromBus::Sent { future } => future.poll(cx),
            ProjectedFromBus::Refused { error } => {
                Poll::Ready(Err(*error.take().expect("a publish is not polled after it was ready")))
            }
        }
    }
}

/// From a bus. Apart from the other, so that it has no place for what only a handle needs.
#[inline]
fn publish_from_bus<'a, B: Backend>(
    origin: Origin<'a, B>,
    subject: &'a Subject,
    event: Prepared,
) -> impl Future<Output = Result<(), PublishError>> + Send + use<'a, B> {
    match (origin, event) {
        (Origin::Bus(activation), Ok(event)) => FromBus::Sent { future: activation.session.publish(subject, event) },
        (Origin::Bus(_), Err(error)) => FromBus::Refused { error: Some(error) },
        (Origin::Handle(_), _) => FromBus::Refused { error: Some(Box::new(PublishError::NotReady)) },
    }
}

/// From a bus or a handle.
async fn publish_now<B: Backend>(
    origin: Origin<'_, B>,
    subject: &Subject,
    event: Prepared,
) -> Result<(), PublishError> {
    match origin {
        Origin::Bus(_) => publish_from_bus(origin, subject, event).await,
        Origin::Handle(core) => {
            let event = event.map_err(|error| *error)?;
            let activation = core.activation.load();
            let Some(activation) = &*activation else { return Err(PublishError::NotReady) };
            let Some(_pass) = activation.gate.enter() else { return Err(PublishError::NotReady) };
            activation.session.publish(subject, event).await
        }
    }
}

/// Publishes at once, or gives the event back. A handle without an activation gives it back too.
fn publish_at_once<B: FailsWhenFull>(origin: Origin<'_, B>, subject: &Subject, event: Event) -> Result<(), Event> {
    match origin {
        Origin::Bus(activation) => B::publish_at_once(&activation.session, subject, event),
        Origin::Handle(core) => {
            let activation = core.activation.load();
            let Some(activation) = &*activation else { return Err(event) };
            let Some(_pass) = activation.gate.enter() else { return Err(event) };
            B::publish_at_once(&activation.session, subject, event)
        }
    }
}

fn publish_when_room<'a, B: FailsWhenFull>(
    origin: Origin<'a, B>,
    subject: &'a Subject,
    event: Event,
    within: Option<Duration>,
) -> BoxedPublish<'a> {
    match origin {
        Origin::Bus(activation) => Box::pin(B::publish_when_room(&activation.session, subject, event, within)),
        Origin::Handle(core) => Box::pin(async move {
            let activation = core.activation.load_full();
            let Some(activation) = activation else { return Err(PublishError::NotReady) };
            let Some(_pass) = activation.gate.enter() else { return Err(PublishError::NotReady) };
            tokio::select! {
                biased;
                () = activation.stopping.cancelled() => Err(PublishError::NotReady),
                published = B::publish_when_room(&activation.session, subject, event, within) => published,
            }
        }),
    }
}

/// A publish on the heap.
pub type BoxedPublish<'a> = Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>>;

/// A publish from a running bus.
#[inline]
pub(super) fn from_bus<'a, B: Backend>(
    activation: &'a Activation<B>,
    subject: &'a Subject,
    event: Event,
) -> Publish<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B>> {
    Publish {
        origin: Origin::Bus(activation),
        subject,
        start: publish_from_bus::<B>,
        event: outgoing(event, &activation.traces),
    }
}

/// A publish from a handle.
pub(super) fn from_handle<'a, B: Backend>(
    core: &'a Core<B>,
    subject: &'a Subject,
    event: Event,
) -> Publish<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B>> {
    Publish {
        origin: Origin::Handle(core),
        subject,
        start: publish_now::<B>,
        event: outgoing(event, &core.observers.traces),
    }
}

/// From either, with a subject of its own.
pub(super) async fn publish_owned<B: Backend>(
    origin: Origin<'_, B>,
    subject: Subject,
    event: Event,
) -> Result<(), PublishError> {
    publish_now(origin, &subject, outgoing(event, origin.traces())).await
}

/// The same, waiting for room.
pub(super) async fn publish_owned_when_room<B: FailsWhenFull>(
    origin: Origin<'_, B>,
    subject: Subject,
    event: Event,
    within: Option<Duration>,
) -> Result<(), PublishError> {
    let event = outgoing(event, origin.traces());
    let publish = Publish { origin, subject: &subject, start: publish_now::<B>, event };
    WhenRoom { within, ..publish.when_room() }.await
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
    pub fn when_room(self) -> WhenRoom<'a, B>
    where
        B: FailsWhenFull,
    {
        WhenRoom {
            origin: self.origin,
            subject: self.subject,
            event: Some(self.event),
            within: None,
            at_once: publish_at_once::<B>,
            when_room: publish_when_room::<B>,
            waiting: None,
        }
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

/// A publish that waits for room (contract B9). One that finds room at once costs what a publish costs; waiting costs an
/// allocation.
///
/// # Cancel safety
/// As [`Publish`]; while it waits for room nothing has been taken.
#[must_use = "a publish does nothing until it is awaited"]
pub struct WhenRoom<'a, B: Backend> {
    origin: Origin<'a, B>,
    subject: &'a Subject,
    event: Option<Prepared>,
    within: Option<Duration>,
    at_once: fn(Origin<'a, B>, &Subject, Event) -> Result<(), Event>,
    when_room: fn(Origin<'a, B>, &'a Subject, Event, Option<Duration>) -> BoxedPublish<'a>,
    waiting: Option<BoxedPublish<'a>>,
}

impl<B: Backend> WhenRoom<'_, B> {
    /// Gives up after this long, counted from where it begins to wait, with [`PublishError::NoRoomInTime`].
    pub fn within(self, deadline: Duration) -> Self {
        Self { within: Some(deadline), ..self }
    }
}

impl<B: Backend> Future for WhenRoom<'_, B> {
    type Output = Result<(), PublishError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(waiting) = &mut this.waiting else {
            // A publisher in a loop gives its consumers a turn.
            let unit = ready!(poll_proceed(cx));
            unit.made_progress();
            let event = this.event.take().expect("a publish is not polled after it was ready");
            return match event.map(|event| (this.at_once)(this.origin, this.subject, event)) {
                Ok(Ok(())) => Poll::Ready(Ok(())),
                Ok(Err(event)) => {
                    let waiting = (this.when_room)(this.origin, this.subject, event, this.within);
                    this.waiting.insert(waiting).as_mut().poll(cx)
                }
                Err(error) => Poll::Ready(Err(*error)),
            };
        };
        waiting.as_mut().poll(cx)
    }
}

impl<B: Backend> fmt::Debug for WhenRoom<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenRoom").field("subject", self.subject).finish_non_exhaustive()
    }
}
