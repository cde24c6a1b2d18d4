//! A bus from anywhere: cheap to clone, usable in every state, checked at run time.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Health, Ledger, NoDeadline, Publish, Request, Stats, Status, StatusChanges,
    core::Core,
    publish::{BoxedPublish, Origin, from_handle, publish_boxed},
    request::{request, request_value},
};
use crate::{
    codec::{Codec, Decodes, Encodes, Json},
    contract::{AnswersRequests, Backend, PublishError},
    event::{Event, EventBuilder},
    subject::Subject,
    subscription::{value_builder, value_event},
};

/// Publishes to a bus and looks at it, in whatever state it is.
pub struct Handle<B: Backend, C: Codec = Json> {
    core: Arc<Core<B>>,
    codec: PhantomData<fn() -> C>,
}

impl<B: Backend, C: Codec> Handle<B, C> {
    pub(super) fn new(core: Arc<Core<B>>) -> Self {
        Self { core, codec: PhantomData }
    }

    /// Publishes an event. Add [`when_room`](Publish::when_room) to wait for room instead of failing.
    ///
    /// # Errors
    /// See [`PublishError`]; [`PublishError::NotReady`] while no activation is live: refused, never held (contract Y5).
    pub fn publish<'a>(
        &'a self,
        subject: &'a Subject,
        event: Event,
    ) -> Publish<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B, C>> {
        from_handle(&self.core, subject, event)
    }

    /// Publishes a value; see [`Bus::publish_value`](super::Bus::publish_value).
    ///
    /// # Errors
    /// See [`PublishError`].
    pub fn publish_value<'a, T: ?Sized>(
        &'a self,
        subject: &'a Subject,
        event_type: &str,
        value: &T,
    ) -> Publish<'a, B, BoxedPublish<'a>>
    where
        C: Encodes<T>,
    {
        publish_boxed(Origin::Handle(&self.core), subject, value_event::<C, T>(&self.core.source, event_type, value))
    }

    /// Sends a request and waits for its reply, which is an event; see [`Bus::request`](super::Bus::request).
    ///
    /// # Errors
    /// See [`RequestError`](crate::contract::RequestError); [`NotReady`](crate::contract::RequestError::NotReady) while no
    /// activation is live (contract Y5).
    pub fn request<'a>(&'a self, subject: &'a Subject, event: Event) -> Request<'a, Event, NoDeadline>
    where
        B: AnswersRequests,
    {
        request(&self.core, subject, event)
    }

    /// Sends a request that carries a value, and decodes the value of the reply; see
    /// [`Bus::request_value`](super::Bus::request_value).
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn request_value<'a, R, T: ?Sized>(
        &'a self,
        subject: &'a Subject,
        event_type: &str,
        value: &T,
    ) -> Request<'a, R, NoDeadline>
    where
        B: AnswersRequests,
        C: Encodes<T> + for<'d> Decodes<'d, R>,
    {
        request_value::<B, C, R, T>(&self.core, subject, event_type, value)
    }

    /// The event that [`publish_value`](Self::publish_value) would publish, to be given another `id`, a `dataschema` or
    /// extensions before it is built (contract P2).
    ///
    /// # Errors
    /// [`PublishError::Value`] if the value cannot be encoded.
    pub fn event<T: ?Sized>(&self, event_type: &str, value: &T) -> Result<EventBuilder, PublishError>
    where
        C: Encodes<T>,
    {
        value_builder::<C, T>(&self.core.source, event_type, value)
    }

    /// Waits until the bus has been ready for the first time: a latch that never reopens (contract Y3). Cancel safe.
    pub async fn ready(&self) {
        self.core.ready.cancelled().await;
    }

    /// Whether an activation is installed now (contract H1).
    pub fn is_ready(&self) -> bool {
        self.core.activation.load().as_ref().is_some_and(|activation| !activation.stopping.is_cancelled())
    }

    /// Whether a subscription has failed for good (contract H2).
    pub fn health(&self) -> Health {
        self.core.board.status().health()
    }

    /// The counters of one subscription; `None` if there is none of this name.
    pub fn stats(&self, name: &str) -> Option<Stats> {
        self.core.stats(name)
    }

    /// The counters of every subscription.
    pub fn ledger(&self) -> Ledger {
        self.core.ledger()
    }

    /// Where the bus and its consumers stand.
    pub fn status(&self) -> Status {
        self.core.board.status()
    }

    /// Waits for changes of the status.
    pub fn status_changes(&self) -> StatusChanges {
        self.core.board.changes()
    }
}

impl<B: Backend, C: Codec> Clone for Handle<B, C> {
    fn clone(&self) -> Self {
        Self::new(self.core.clone())
    }
}

impl<B: Backend, C: Codec> fmt::Debug for Handle<B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("status", &self.status()).finish_non_exhaustive()
    }
}
