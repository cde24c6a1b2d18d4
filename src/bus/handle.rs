//! A bus from anywhere: cheap to clone, usable in every state, checked at run time.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Health, Ledger, Publish, PublishBatch, PublishValue, Stats, Status, StatusChanges,
    core::Core,
    publish::{Origin, from_handle},
};
use crate::{
    codec::{Codec, Encodes, Json},
    contract::{Backend, PublishError},
    event::{Event, EventBuilder},
    subject::Subject,
    subscription::{Addressed, Publisher, value_builder},
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
    pub fn publish_value<T: ?Sized>(&self, subject: &Subject, event_type: &str, value: &T) -> PublishValue<'_, B>
    where
        C: Encodes<T>,
    {
        let event = value_builder::<C, T>(&self.core.source, event_type, value);
        PublishValue::new(Origin::Handle(&self.core), subject.clone(), event)
    }

    /// Publishes many events; see [`Bus::publish_batch`](super::Bus::publish_batch). What has not been sent when the bus
    /// begins to stop is [`PublishError::NotReady`].
    pub fn publish_batch<'a, I>(&'a self, events: I) -> PublishBatch<'a, B>
    where
        I: IntoIterator<Item: Addressed + 'a, IntoIter: Send + 'a>,
    {
        PublishBatch::new(Origin::Handle(&self.core), events)
    }

    /// The event that [`publish_value`](Self::publish_value) would publish; see [`Bus::event`](super::Bus::event).
    ///
    /// # Errors
    /// [`PublishError::Value`] if the value cannot be encoded.
    pub fn event<T: ?Sized>(&self, event_type: &str, value: &T) -> Result<EventBuilder, PublishError>
    where
        C: Encodes<T>,
    {
        value_builder::<C, T>(&self.core.source, event_type, value)
    }

    /// A publisher with defaults; see [`Bus::publisher`](super::Bus::publisher).
    pub fn publisher(&self) -> Publisher<C> {
        Publisher::new(self.core.clone())
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
