//! A publish on its way.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::core::{Core, after};
use crate::{
    contract::{Backend, FailsWhenFull, PublishError, Session},
    event::Event,
    subject::{Name, Subject},
};

/// Publishes through the activation that is live, which cannot be closed under it (contract Y5, Y6).
pub(super) async fn publish_now<B: Backend>(
    core: &Core<B>,
    subject: &Subject,
    event: Event,
) -> Result<(), PublishError> {
    let activation = core.activation.load();
    let Some(activation) = &*activation else { return Err(PublishError::NotReady) };
    let Some(_pass) = activation.gate.enter() else { return Err(PublishError::NotReady) };
    activation.session.publish(subject, event).await
}

pin_project! {
    /// A publish. It does nothing until it is awaited.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it leaves open whether the event was taken; it is never taken in part.
    #[must_use = "a publish does nothing until it is awaited"]
    pub struct Publish<'a, B: Backend, F> {
        core: &'a Core<B>,
        subject: &'a Subject,
        start: fn(&'a Core<B>, &'a Subject, Event) -> F,
        event: Option<Result<Event, PublishError>>,
        #[pin]
        running: Option<F>,
    }
}

/// A publish through the activation that is live.
pub(super) fn publish<'a, B: Backend>(
    core: &'a Core<B>,
    subject: &'a Subject,
    event: Result<Event, PublishError>,
) -> Publish<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B>> {
    Publish { core, subject, start: publish_now::<B>, event: Some(event), running: None }
}

impl<'a, B: Backend, F> Publish<'a, B, F> {
    /// Waits for room instead of failing when a subscription that fails when full is at its bound (contract B9). Cut
    /// off by stopping; add [`within`](WhenRoom::within) for a deadline.
    pub fn when_room(self) -> WhenRoom<'a, B, F>
    where
        B: FailsWhenFull,
    {
        WhenRoom { publish: self, kept: None, room: room::<B>, waiting: None, deadline: None }
    }
}

impl<B: Backend, F: Future<Output = Result<(), PublishError>>> Future for Publish<'_, B, F> {
    type Output = Result<(), PublishError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(event) = this.event.take() {
            match event {
                Ok(event) => this.running.set(Some((this.start)(this.core, this.subject, event))),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        this.running.as_pin_mut().expect("a publish is not polled after it was ready").poll(cx)
    }
}

impl<B: Backend, F> fmt::Debug for Publish<'_, B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publish").field("subject", self.subject).finish_non_exhaustive()
    }
}

type Room<'a> = Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>>;

/// Waits for room, until stopping begins.
fn room<'a, B: FailsWhenFull>(core: &'a Core<B>, subject: &'a Subject) -> Room<'a> {
    Box::pin(async move {
        let activation = core.activation.load_full();
        let Some(activation) = activation else { return Err(PublishError::NotReady) };
        tokio::select! {
            biased;
            () = activation.stopping.cancelled() => Err(PublishError::NotReady),
            room = B::room(&activation.session, subject) => room,
        }
    })
}

pin_project! {
    /// A publish that waits for room (contract B9). Waiting for room costs an allocation, publishing does not.
    ///
    /// # Cancel safety
    /// As [`Publish`]; while it waits for room nothing has been taken.
    #[must_use = "a publish does nothing until it is awaited"]
    pub struct WhenRoom<'a, B: Backend, F> {
        #[pin]
        publish: Publish<'a, B, F>,
        kept: Option<Event>,
        room: fn(&'a Core<B>, &'a Subject) -> Room<'a>,
        waiting: Option<(Name, Room<'a>)>,
        deadline: Option<(Duration, Pin<Box<Sleep>>)>,
    }
}

impl<'a, B: Backend, F> WhenRoom<'a, B, F> {
    /// Gives up after this long, with [`PublishError::NoRoomInTime`].
    pub fn within(self, deadline: Duration) -> Self {
        Self { deadline: Some((deadline, Box::pin(tokio::time::sleep_until(after(deadline))))), ..self }
    }
}

impl<B: Backend, F: Future<Output = Result<(), PublishError>>> Future for WhenRoom<'_, B, F> {
    type Output = Result<(), PublishError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            if let Some((subscription, room)) = this.waiting {
                match room.as_mut().poll(cx) {
                    Poll::Ready(Ok(())) => *this.waiting = None,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {
                        if let Some((waited, sleep)) = this.deadline
                            && sleep.as_mut().poll(cx).is_ready()
                        {
                            let (subscription, waited) = (subscription.clone(), *waited);
                            return Poll::Ready(Err(PublishError::NoRoomInTime { subscription, waited }));
                        }
                        return Poll::Pending;
                    }
                }
            }
            let mut publish = this.publish.as_mut().project();
            match publish.event.take() {
                Some(Ok(event)) => {
                    *this.kept = Some(event.clone());
                    publish.running.set(Some((publish.start)(publish.core, publish.subject, event)));
                }
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => {}
            }
            let running = publish.running.as_mut().as_pin_mut().expect("a publish is not polled after it was ready");
            match running.poll(cx) {
                Poll::Ready(Err(PublishError::QueueFull { subscription })) => {
                    *publish.event = this.kept.take().map(Ok);
                    *this.waiting = Some((subscription, (this.room)(publish.core, publish.subject)));
                }
                other => return other,
            }
        }
    }
}

impl<B: Backend, F> fmt::Debug for WhenRoom<'_, B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenRoom").field("publish", &self.publish).finish_non_exhaustive()
    }
}
