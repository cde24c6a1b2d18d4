//! Publishing without naming the backend, as handlers do.

use std::{borrow::Cow, fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use super::batch::{Addressed, BatchReport, WINDOW, publish_all};
use crate::{
    codec::{Codec, Encodes, Json},
    contract::PublishError,
    event::{Event, EventBuilder, Uri, UriReference, Value},
    subject::Subject,
    topic::Topic,
};

/// Publishes without naming the backend: from inside a handler, or wherever a part of a service is to publish and needs
/// to know no more. Cheap to clone.
///
/// A handler takes it as an argument (contract Y13); its admission stays open until the handlers have finished, so that
/// consume, transform, publish survives a stop. Elsewhere it comes from [`Bus::publisher`](crate::Bus::publisher) or
/// [`Handle::publisher`](crate::Handle::publisher), and publishes while the bus runs (Y5). Each publish through it costs
/// one allocation more than through the bus.
///
/// It can hold defaults for the events that it makes of values; an event that is given to it ready made is published as it
/// is. For one event to differ, take it from [`event`](Self::event), change it, and [`publish`](Self::publish) it.
///
/// ```
/// # use tramline::{Bus, Memory, Running, contract::PublishError, subject};
/// # async fn publish(bus: Bus<Memory, Running>) -> Result<(), PublishError> {
/// let publisher = bus.publisher().extension("tenant", "north");
/// let raised = publisher.to(subject!("invoice.raised"), "com.example.invoice.raised.v1");
/// raised.publish_value(&17).await?;
/// raised.publish_value(&18).await
/// # }
/// ```
pub struct Publisher<C = Json> {
    outlet: Arc<dyn Outlet>,
    /// None costs nothing.
    defaults: Option<Arc<Defaults>>,
    codec: PhantomData<fn() -> C>,
}

/// What the events made of values say unless it is said otherwise.
#[derive(Clone, Default)]
struct Defaults {
    data_schema: Option<Uri>,
    subject: Option<String>,
    extensions: Vec<(String, Value)>,
}

impl Defaults {
    fn set_on(&self, mut event: EventBuilder) -> EventBuilder {
        if let Some(schema) = &self.data_schema {
            event = event.data_schema(schema.clone());
        }
        if let Some(subject) = &self.subject {
            event = event.subject(subject);
        }
        for (name, value) in &self.extensions {
            event = event.extension(name, value.clone());
        }
        event
    }
}

impl<C: Codec> Publisher<C> {
    pub(crate) fn new(outlet: Arc<dyn Outlet>) -> Self {
        Self { outlet, defaults: None, codec: PhantomData }
    }

    /// From now on `dataschema` is this. Clones made before keep what they had, here and below.
    #[must_use = "this publisher has the default; others do not"]
    pub fn data_schema(self, schema: Uri) -> Self {
        self.with(|defaults| defaults.data_schema = Some(schema))
    }

    /// From now on the attribute `subject` is this: what the events are about, not the subject that they are published on.
    #[must_use = "this publisher has the default; others do not"]
    pub fn subject_attribute(self, subject: impl Into<String>) -> Self {
        self.with(|defaults| defaults.subject = Some(subject.into()))
    }

    /// From now on events have this extension attribute. One that is not valid (contract Q3, Q4) makes each publish of a
    /// value a [`PublishError::Value`] that names it.
    #[must_use = "this publisher has the default; others do not"]
    pub fn extension(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with(|defaults| defaults.extensions.push((name.into(), value.into())))
    }

    fn with(mut self, change: impl FnOnce(&mut Defaults)) -> Self {
        change(Arc::make_mut(self.defaults.get_or_insert_default()));
        self
    }

    /// A publisher of one kind of event, on one subject.
    pub fn to(self, subject: Subject, event_type: impl Into<String>) -> PublisherTo<C> {
        PublisherTo { publisher: self, subject, event_type: event_type.into() }
    }

    /// Publishes an event, as it is.
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
        match self.event(event_type, value).and_then(built) {
            Ok(event) => self.outlet.publish(subject, event),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    /// Publishes a value of a topic, on its own subject and with its own event type and schema; see
    /// [`Bus::publish_topic`](crate::Bus::publish_topic).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// As [`publish`](Publisher::publish).
    pub fn publish_topic<T: Topic + ?Sized>(
        &self,
        value: &T,
    ) -> Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + '_>>
    where
        C: Encodes<T>,
    {
        let topic = topic_event(value, self.event(T::EVENT_TYPE, value));
        Box::pin(async move {
            let (subject, event) = topic?;
            self.outlet.publish(&subject, built(event)?).await
        })
    }

    /// Publishes many events, as they are; see [`Bus::publish_batch`](crate::Bus::publish_batch).
    ///
    /// # Cancel safety
    /// As [`PublishBatch`](crate::bus::PublishBatch).
    pub fn publish_batch<'a, I>(&'a self, events: I) -> Pin<Box<dyn Future<Output = BatchReport> + Send + 'a>>
    where
        I: IntoIterator<Item: Addressed + 'a, IntoIter: Send + 'a>,
    {
        let outlet = &*self.outlet;
        let publish = move |subject, event| async move { outlet.publish(&subject, event).await };
        Box::pin(publish_all(WINDOW, events.into_iter().map(Addressed::addressed), publish))
    }

    /// The event that [`publish_value`](Self::publish_value) would publish, to be changed before it is built.
    ///
    /// # Errors
    /// [`PublishError::Value`] if the value cannot be encoded.
    pub fn event<T: ?Sized>(&self, event_type: &str, value: &T) -> Result<EventBuilder, PublishError>
    where
        C: Encodes<T>,
    {
        let event = value_builder::<C, T>(self.source(), event_type.to_owned(), value)?;
        Ok(self.defaults.iter().fold(event, |event, defaults| defaults.set_on(event)))
    }

    /// The bus's source.
    pub(crate) fn source(&self) -> &UriReference {
        self.outlet.source()
    }
}

/// Publishes one kind of event on one subject: a [`Publisher`] that has been told [where to](Publisher::to).
pub struct PublisherTo<C = Json> {
    publisher: Publisher<C>,
    subject: Subject,
    event_type: String,
}

impl<C: Codec> PublisherTo<C> {
    /// Publishes a value; see [`Publisher::publish_value`].
    ///
    /// # Errors
    /// As [`Publisher::publish_value`].
    ///
    /// # Cancel safety
    /// As [`Publisher::publish`].
    pub fn publish_value<'a, T: ?Sized>(
        &'a self,
        value: &T,
    ) -> Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>>
    where
        C: Encodes<T>,
    {
        self.publisher.publish_value(&self.subject, &self.event_type, value)
    }
}

impl<C> Clone for PublisherTo<C> {
    fn clone(&self) -> Self {
        Self { publisher: self.publisher.clone(), subject: self.subject.clone(), event_type: self.event_type.clone() }
    }
}

impl<C> fmt::Debug for PublisherTo<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublisherTo")
            .field("subject", &self.subject)
            .field("event_type", &self.event_type)
            .finish_non_exhaustive()
    }
}

impl<C> Clone for Publisher<C> {
    fn clone(&self) -> Self {
        Self { outlet: self.outlet.clone(), defaults: self.defaults.clone(), codec: PhantomData }
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
    event_type: impl Into<Cow<'static, str>>,
    value: &T,
) -> Result<EventBuilder, PublishError> {
    let data = C::encode(value).map_err(|error| PublishError::Value { source: error.into() })?;
    Ok(EventBuilder::fresh(source.clone(), event_type.into(), Some((C::CONTENT_TYPE, data))))
}

/// The event of a builder, which is refused if an attribute is not valid.
pub(crate) fn built(event: EventBuilder) -> Result<Event, PublishError> {
    event.build().map_err(|error| PublishError::Value { source: error.into() })
}

/// The subject of a topic's value, and the event that carries it, which has the topic's schema then (contract P2).
pub(crate) fn topic_event<T: Topic + ?Sized>(
    value: &T,
    event: Result<EventBuilder, PublishError>,
) -> Result<(Subject, EventBuilder), PublishError> {
    let subject = value.subject()?;
    let event = event?;
    Ok((subject, if let Some(schema) = T::SCHEMA { event.data_schema(schema) } else { event }))
}
