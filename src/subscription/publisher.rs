//! Publishing from inside a handler.

use std::{fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use uuid::Uuid;

use crate::{
    codec::{Codec, Encodes, Json},
    contract::PublishError,
    event::{Event, EventBuilder, Timestamp, UriReference},
    subject::Subject,
};

/// Publishes from inside a handler (contract Y13).
///
/// Its admission stays open until the handlers have finished, so that consume, transform, publish survives a stop. It
/// does not know the backend's type, so each publish through it costs one allocation more than through the bus.
pub struct Publisher<C = Json> {
    outlet: Arc<dyn Outlet>,
    codec: PhantomData<fn() -> C>,
}

impl<C: Codec> Publisher<C> {
    pub(crate) fn new(outlet: Arc<dyn Outlet>) -> Self {
        Self { outlet, codec: PhantomData }
    }

    /// The bus's source.
    pub(crate) fn source(&self) -> &UriReference {
        self.outlet.source()
    }

    /// Publishes an event.
    ///
    /// # Errors
    /// As [`Bus::publish`](crate::Bus::publish).
    ///
    /// # Cancel safety
    /// As [`Session::publish`](crate::contract::Session::publish).
    pub async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        self.outlet.publish(subject, event).await
    }

    /// Publishes a value as an event of this type (contract P2).
    ///
    /// # Errors
    /// As [`Bus::publish_value`](crate::Bus::publish_value).
    ///
    /// # Cancel safety
    /// As [`publish`](Publisher::publish).
    pub fn publish_value<'a, T: ?Sized>(
        &'a self,
        subject: &'a Subject,
        event_type: &str,
        value: &T,
    ) -> Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>>
    where
        C: Encodes<T>,
    {
        match value_event::<C, T>(self.outlet.source(), event_type, value) {
            Ok(event) => self.outlet.publish(subject, event),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

impl<C> Clone for Publisher<C> {
    fn clone(&self) -> Self {
        Self { outlet: self.outlet.clone(), codec: PhantomData }
    }
}

impl<C> fmt::Debug for Publisher<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").finish_non_exhaustive()
    }
}

/// A way to publish that does not name the backend.
pub(crate) trait Outlet: Send + Sync {
    fn source(&self) -> &UriReference;

    fn publish<'a>(
        &'a self,
        subject: &'a Subject,
        event: Event,
    ) -> Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>>;
}

/// Makes the event that carries a value (contract P2), to be changed before it is built.
pub(crate) fn value_builder<C: Encodes<T>, T: ?Sized>(
    source: &UriReference,
    event_type: &str,
    value: &T,
) -> Result<EventBuilder, PublishError> {
    let data = C::encode(value).map_err(|error| PublishError::Value { source: error.into() })?;
    let builder = Event::builder(Uuid::now_v7().to_string(), source.clone(), event_type);
    Ok(builder.time(Timestamp::now()).data(Some(C::CONTENT_TYPE), data))
}

/// Makes the event that carries a value (contract P2).
pub(crate) fn value_event<C: Encodes<T>, T: ?Sized>(
    source: &UriReference,
    event_type: &str,
    value: &T,
) -> Result<Event, PublishError> {
    let builder = value_builder::<C, T>(source, event_type, value)?;
    builder.build().map_err(|error| PublishError::Value { source: error.into() })
}
