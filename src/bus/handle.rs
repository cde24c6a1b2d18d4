//! A bus from anywhere: cheap to clone, usable in every state, checked at run time.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Health, Ledger, NoDeadline, Publish, PublishBatch, PublishValue, Request, Stats, Status, StatusChanges,
    core::Core,
    idle::idle,
    publish::{Origin, from_handle},
    request::{request, request_value},
};
use crate::{
    codec::{Codec, Decodes, Encodes, Json},
    contract::{AnswersRequests, Backend, PublishError},
    event::{Event, EventBuilder},
    subject::Subject,
    subscription::{Addressed, Publisher, topic_event, value_builder},
    topic::Topic,
};

/// Publishes to a bus, asks through it and looks at it, in whatever state it is.
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
    pub fn publish_value<T: ?Sized>(&self, subject: &Subject, event_type: &str, value: &T) -> PublishValue<'_, B>
    where
        C: Encodes<T>,
    {
        let event = self.event(event_type, value);
        PublishValue::new(Origin::Handle(&self.core), event.map(|event| (subject.clone(), event)))
    }

    /// Publishes a value of a topic; see [`Bus::publish_topic`](super::Bus::publish_topic).
    ///
    /// # Errors
    /// See [`PublishError`].
    pub fn publish_topic<T: Topic + ?Sized>(&self, value: &T) -> PublishValue<'_, B>
    where
        C: Encodes<T>,
    {
        PublishValue::new(Origin::Handle(&self.core), topic_event(value, self.event(T::EVENT_TYPE, value)))
    }

    /// Publishes many events; see [`Bus::publish_batch`](super::Bus::publish_batch). What has not been sent when the bus
    /// begins to stop is [`PublishError::NotReady`].
    pub fn publish_batch<'a, I>(&'a self, events: I) -> PublishBatch<'a, B>
    where
        I: IntoIterator<Item: Addressed + 'a, IntoIter: Send + 'a>,
    {
        PublishBatch::new(Origin::Handle(&self.core), events)
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

    /// The event that [`publish_value`](Self::publish_value) would publish; see [`Bus::event`](super::Bus::event).
    ///
    /// # Errors
    /// [`PublishError::Value`] if the value cannot be encoded.
    pub fn event<T: ?Sized>(&self, event_type: &str, value: &T) -> Result<EventBuilder, PublishError>
    where
        C: Encodes<T>,
    {
        value_builder::<C, T>(&self.core.source, event_type.to_owned(), value)
    }

    /// A publisher with defaults; see [`Bus::publisher`](super::Bus::publisher).
    pub fn publisher(&self) -> Publisher<C> {
        Publisher::new(self.core.clone())
    }

    /// Waits until the bus has been ready for the first time: a latch that never reopens (contract Y3). Cancel safe.
    pub async fn ready(&self) {
        self.core.ready.cancelled().await;
    }

    /// Waits until every subscription is idle; see [`Bus::idle`](super::Bus::idle). On a bus that does not run, that is
    /// once no handler of its last activation runs any more.
    ///
    /// # Cancel safety
    /// As [`Bus::idle`](super::Bus::idle).
    pub async fn idle(&self) {
        idle(&self.core).await;
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

    /// The counters of every subscription and of every request.
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
