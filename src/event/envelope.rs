//! The event itself: a shared, immutable handle.

use std::{fmt, sync::Arc, time::SystemTime};

use super::{
    Data, EventBuilder, Timestamp, Uri, UriReference, Value,
    event_type::EventType,
    on_demand::{Fresh, OnDemand},
};
use crate::text::Text;

/// A `CloudEvent` 1.0 (contract Q1).
///
/// The handle is shared: a clone is one reference count, whatever the event carries, and needs no `Arc` around it. It is immutable,
/// therefore no subscriber sees what another does with its copy (contract Q7). To edit, take [`to_builder`](Self::to_builder).
///
/// Two events are equal when all attributes, all extensions and the data are, the kind of the data included (contract Q5).
#[derive(Clone)]
pub struct Event(Arc<Inner>);

#[derive(Clone, PartialEq)]
pub(super) struct Inner {
    pub(super) id: OnDemand<Fresh>,
    pub(super) source: UriReference,
    pub(super) event_type: EventType,
    pub(super) subject: Option<String>,
    pub(super) time: Option<OnDemand<SystemTime>>,
    pub(super) content_type: Option<Text>,
    pub(super) data_schema: Option<Uri>,
    /// Sorted by name, each name once, in an event; in the order of the calls in a builder.
    pub(super) extensions: Vec<(String, Value)>,
    pub(super) data: Option<Data>,
}

/// What a builder fills. No event is this: it has none of what none can be without.
impl Default for Inner {
    fn default() -> Self {
        Self {
            id: OnDemand::Given(String::new()),
            source: UriReference::empty(),
            event_type: EventType::Static(""),
            subject: None,
            time: None,
            content_type: None,
            data_schema: None,
            extensions: Vec::new(),
            data: None,
        }
    }
}

impl Event {
    /// Begins an event with what none can be without (contract Q1). `id` and `source` together are its identity (contract Q8).
    pub fn builder(id: impl Into<String>, source: UriReference, event_type: impl Into<String>) -> EventBuilder {
        EventBuilder::new(id.into(), source, event_type.into())
    }

    pub(super) const fn from_checked(inner: Arc<Inner>) -> Self {
        Self(inner)
    }

    /// A builder that holds a copy of this event; the data bytes are shared, as nobody can change them (contract Q7).
    pub fn to_builder(&self) -> EventBuilder {
        EventBuilder::from_shared(Arc::clone(&self.0))
    }

    /// What the producer calls this event; unique only together with [`source`](Self::source) (contract Q8).
    #[inline]
    pub fn id(&self) -> &str {
        self.0.id.get()
    }

    /// Who produced the event.
    #[inline]
    pub fn source(&self) -> &UriReference {
        &self.0.source
    }

    /// What kind of event it is: the attribute `type`.
    #[inline]
    pub fn event_type(&self) -> &str {
        self.0.event_type.as_str()
    }

    /// What the event is about, in the terms of its producer. Not the subject that it is published on.
    #[inline]
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// When it happened.
    #[inline]
    pub fn time(&self) -> Option<&Timestamp> {
        self.0.time.as_ref().map(OnDemand::get)
    }

    /// The media type of the data: the attribute `datacontenttype`. Compare it with [`media_type`](super::media_type).
    #[inline]
    pub fn data_content_type(&self) -> Option<&str> {
        self.0.content_type.as_ref().map(Text::as_str)
    }

    /// The schema that the data follows: the attribute `dataschema`.
    #[inline]
    pub fn data_schema(&self) -> Option<&Uri> {
        self.0.data_schema.as_ref()
    }

    /// What the event carries. No data and empty data are not the same (contract Q5).
    #[inline]
    pub fn data(&self) -> Option<&Data> {
        self.0.data.as_ref()
    }

    /// The same event with these extension attributes, whose names and values are valid; one that it has stays.
    pub(crate) fn with_extensions(self, attributes: impl Iterator<Item = (&'static str, String)>) -> Self {
        let Self(mut shared) = self;
        let extensions = &mut Arc::make_mut(&mut shared).extensions;
        for (name, value) in attributes {
            if let Err(at) = extensions.binary_search_by(|(other, _)| other.as_str().cmp(name)) {
                extensions.insert(at, (name.to_owned(), Value::String(value)));
            }
        }
        Self(shared)
    }

    /// The value of an extension attribute.
    pub fn extension(&self, name: &str) -> Option<&Value> {
        let extensions = &self.0.extensions;
        let at = extensions.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok()?;
        extensions.get(at).map(|(_, value)| value)
    }

    /// The extension attributes, sorted by name.
    #[inline]
    pub fn extensions(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.extensions.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Event {}

/// All attributes; of the data only kind and length.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Event");
        all.field("id", &self.id()).field("source", self.source()).field("type", &self.event_type());
        let mut optional = |name: &str, value: Option<&dyn fmt::Debug>| {
            if let Some(value) = value {
                all.field(name, value);
            }
        };
        optional("subject", self.subject().as_ref().map(|it| it as _));
        optional("time", self.time().map(|it| it as _));
        optional("datacontenttype", self.data_content_type().as_ref().map(|it| it as _));
        optional("dataschema", self.data_schema().map(|it| it as _));
        for (name, value) in self.extensions() {
            optional(name, Some(value));
        }
        optional("data", self.data().map(|it| it as _));
        all.finish()
    }
}
