//! Building an event: every rule is checked once, in `build`, and never again.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use super::{
    Data, Event, EventError, Timestamp, Uri, UriReference, Utf8Bytes, Value,
    envelope::Inner,
    error::Excerpt,
    event_type::EventType,
    extension_name, media_type,
    on_demand::{Fresh, OnDemand},
    value::forbidden_character,
};
use crate::text::Text;

const JSON: &str = "application/json";
const PLAIN_TEXT: &str = "text/plain";
const OCTETS: &str = "application/octet-stream";

/// Gathers what an event is made of; [`build`](Self::build) checks it.
///
/// [`Event::builder`] begins a new event, [`Event::to_builder`] an edited copy. A second call of one method replaces the first.
#[derive(Clone)]
#[must_use = "an event comes to be with `.build()`"]
pub struct EventBuilder {
    /// In its place already: an event is large, and is not moved from here on.
    inner: Arc<Inner>,
    /// The media type that the data has if none is given.
    usual_type: Option<&'static str>,
}

impl EventBuilder {
    pub(super) fn new(id: String, source: UriReference, event_type: String) -> Self {
        let mut builder = Self::from_shared(Arc::default());
        let inner = builder.inner();
        inner.id = OnDemand::Given(id);
        inner.source = source;
        inner.event_type = EventType::Given(event_type);
        builder
    }

    /// Begins an event that happens now, has an `id` of its own, and carries this (contract P2).
    pub(crate) fn fresh(
        source: UriReference,
        event_type: Cow<'static, str>,
        data: Option<(&'static str, Data)>,
    ) -> Self {
        let mut builder = Self::from_shared(Arc::default());
        let inner = builder.inner();
        inner.id = OnDemand::Seed(Fresh, OnceLock::new());
        inner.source = source;
        inner.event_type = match event_type {
            Cow::Borrowed(text) => EventType::Static(text),
            Cow::Owned(text) => EventType::Given(text),
        };
        inner.time = Some(OnDemand::now());
        if let Some((content_type, data)) = data {
            inner.content_type = Some(Text::Static(content_type));
            inner.data = Some(data);
        }
        builder
    }

    pub(super) const fn from_shared(inner: Arc<Inner>) -> Self {
        Self { inner, usual_type: None }
    }

    /// What is changed is this builder's alone.
    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    /// Sets `id`.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.inner().id = OnDemand::Given(id.into());
        self
    }

    /// Sets `source`.
    pub fn source(mut self, source: UriReference) -> Self {
        self.inner().source = source;
        self
    }

    /// Sets `type`.
    pub fn event_type(mut self, event_type: impl Into<String>) -> Self {
        self.inner().event_type = EventType::Given(event_type.into());
        self
    }

    /// Sets what the event is about; not the subject that it is published on.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.inner().subject = Some(subject.into());
        self
    }

    /// Sets when it happened.
    pub fn time(mut self, time: Timestamp) -> Self {
        self.inner().time = Some(OnDemand::Given(time));
        self
    }

    /// Sets the schema that the data follows.
    pub fn data_schema(mut self, schema: Uri) -> Self {
        self.inner().data_schema = Some(schema);
        self
    }

    /// Sets the media type and leaves the data as it is.
    pub fn data_content_type(mut self, content_type: impl AsRef<str>) -> Self {
        self.inner().content_type = Some(shared(content_type.as_ref()));
        self
    }

    /// Sets the data to JSON; `datacontenttype` becomes `application/json` if none was given.
    ///
    /// The bytes are not parsed. What is no JSON stays what it is, and shows when it is decoded (contract Q5).
    pub fn json(mut self, bytes: impl Into<Bytes>) -> Self {
        self.inner().data = Some(Data::Json(bytes.into()));
        self.usual_type = Some(JSON);
        self
    }

    /// Sets the data to text; `datacontenttype` becomes `text/plain` if none was given.
    pub fn text(mut self, text: impl Into<Utf8Bytes>) -> Self {
        self.inner().data = Some(Data::Text(text.into()));
        self.usual_type = Some(PLAIN_TEXT);
        self
    }

    /// Sets the data to bytes of this media type.
    pub fn binary(self, content_type: impl AsRef<str>, bytes: impl Into<Bytes>) -> Self {
        self.data(Some(content_type.as_ref()), Data::Binary(bytes.into()))
    }

    /// Sets the data and its media type, or that it has none. For adapters, which have both from elsewhere.
    pub fn data(mut self, content_type: Option<&str>, data: Data) -> Self {
        self.inner().content_type = content_type.map(shared);
        self.inner().data = Some(data);
        self.usual_type = None;
        self
    }

    /// Takes the data away, and the media type with it.
    pub fn without_data(mut self) -> Self {
        self.inner().content_type = None;
        self.inner().data = None;
        self.usual_type = None;
        self
    }

    /// Sets an extension attribute.
    pub fn extension(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.inner().extensions.push((name.into(), value.into()));
        self
    }

    /// Takes an extension attribute away, if it is there.
    pub fn without_extension(mut self, name: &str) -> Self {
        self.inner().extensions.retain(|(other, _)| other != name);
        self
    }

    /// Checks everything and makes the event.
    ///
    /// **The kind of the data follows its media type** (contract Q5), so that every format can give back the event that it was given:
    /// - under a JSON media type the data *is* [`Data::Json`]: text or bytes given with one become that, their bytes unchanged;
    /// - under another media type it is text or binary, and JSON is refused;
    /// - without a media type it is binary, or JSON that is valid and has no white space around it, and all else is refused.
    ///
    /// # Errors
    /// An attribute is empty (Q1), an extension has an impossible name (Q3), a string holds a control character or noncharacter (Q4),
    /// `datacontenttype` is no media type (Q4), or the data does not go with it (Q5).
    pub fn build(self) -> Result<Event, EventError> {
        self.finish(is_plain_json)
    }

    /// For the JSON format, whose `data` cannot be other than plain JSON.
    pub(super) fn build_with_plain_json(self) -> Result<Event, EventError> {
        self.finish(|_| true)
    }

    fn finish(self, is_plain_json: impl FnOnce(&[u8]) -> bool) -> Result<Event, EventError> {
        let Self { inner: mut shared, usual_type } = self;
        let inner = Arc::make_mut(&mut shared);
        if let Some(id) = inner.id.given() {
            required("id", id, "give each event of a source one of its own, such as a UUID")?;
        }
        required("source", inner.source.as_str(), "name the service, as in `urn:example:billing`")?;
        required("type", inner.event_type.as_str(), "name the kind of event, as in `com.example.invoice.raised.v1`")?;
        if let Some(id) = inner.id.given() {
            string("id", id)?;
        }
        string("type", inner.event_type.as_str())?;
        if let Some(subject) = &inner.subject {
            required("subject", subject, "leave it out if the event has none")?;
            string("subject", subject)?;
        }
        extensions(&mut inner.extensions)?;
        match (&inner.content_type, usual_type) {
            (Some(content_type), _) => check_content_type(content_type.as_str())?,
            (None, usual) => inner.content_type = usual.map(Text::Static),
        }
        if let Some(data) = inner.data.take() {
            inner.data = Some(settle_kind(inner.content_type.as_ref().map(Text::as_str), data, is_plain_json)?);
        }
        Ok(Event::from_checked(shared))
    }
}

/// What the event would show.
impl std::fmt::Debug for EventBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let inner = &self.inner;
        f.debug_struct("EventBuilder")
            .field("id", inner.id.get())
            .field("source", &inner.source)
            .field("type", &inner.event_type)
            .field("data", &inner.data)
            .finish_non_exhaustive()
    }
}

/// The usual media types cost no allocation.
pub(super) fn shared(content_type: &str) -> Text {
    [JSON, PLAIN_TEXT, OCTETS]
        .into_iter()
        .find(|usual| *usual == content_type)
        .map_or_else(|| content_type.into(), Text::Static)
}

fn required(attribute: &'static str, value: &str, fix: &'static str) -> Result<(), EventError> {
    if value.is_empty() { Err(EventError::Empty { attribute, fix }) } else { Ok(()) }
}

fn string(attribute: &str, value: &str) -> Result<(), EventError> {
    match forbidden_character(value) {
        None => Ok(()),
        Some(character) => {
            Err(EventError::Character { attribute: attribute.into(), value: Excerpt::of(value), character })
        }
    }
}

/// Sorts them, keeps the last of each name, and checks them.
fn extensions(extensions: &mut Vec<(String, Value)>) -> Result<(), EventError> {
    if extensions.is_empty() {
        return Ok(());
    }
    // Stable, so that what was set last comes last; reversed, because `dedup` keeps the first.
    extensions.reverse();
    extensions.sort_by(|(left, _), (right, _)| left.cmp(right));
    extensions.dedup_by(|(left, _), (right, _)| left == right);
    for (name, value) in extensions {
        extension_name::check(name)?;
        if let Value::String(text) = value {
            string(name, text)?;
        }
    }
    Ok(())
}

pub(super) fn check_content_type(content_type: &str) -> Result<(), EventError> {
    if content_type == JSON {
        return Ok(());
    }
    required("datacontenttype", content_type, "leave it out, or write a media type such as `application/json`")?;
    string("datacontenttype", content_type)?;
    if media_type::is_valid(content_type) {
        Ok(())
    } else {
        Err(EventError::ContentType { value: Excerpt::of(content_type) })
    }
}

fn settle_kind(
    content_type: Option<&str>,
    data: Data,
    is_plain_json: impl FnOnce(&[u8]) -> bool,
) -> Result<Data, EventError> {
    let refuse =
        |kind, content_type, fix| Err(EventError::DataKind { kind, content_type: Excerpt::of(content_type), fix });
    match (content_type, data) {
        (Some(content_type), data) if media_type::is_json(content_type) => Ok(Data::Json(data.into_bytes())),
        (Some(content_type), Data::Json(_)) => refuse(
            "JSON",
            content_type,
            "give a JSON media type such as `application/json`, or give the data as text or binary",
        ),
        (None, Data::Json(bytes)) if !is_plain_json(&bytes) => refuse(
            "JSON that is not valid, or has white space around it,",
            "absent",
            "give a JSON media type such as `application/json`",
        ),
        (None, Data::Text(_)) => refuse("text", "absent", "give a media type such as `text/plain`"),
        (_, data) => Ok(data),
    }
}

/// Whether the bytes are valid JSON and nothing else, so that the JSON format can carry them as they are.
pub(super) fn is_plain_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok_and(|raw| raw.get().len() == bytes.len())
}
