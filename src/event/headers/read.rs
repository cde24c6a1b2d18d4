//! Reading: all headers first, as they are written, then the mode, then what each of them means.

use std::borrow::Cow;

use bytes::Bytes;

use super::{Declared, HeadersError, percent};
use crate::event::{Data, Event, Excerpt, Timestamp, Uri, UriReference, Utf8Bytes, error::version_flaw, media_type};

const PREFIX: &str = "ce-";

pub(super) fn decode<'m>(
    headers: &mut dyn Iterator<Item = (&'m str, &'m str)>,
    payload: Bytes,
) -> Result<Event, HeadersError> {
    let headers = Headers::gathered(headers);
    if let Some(header) = headers.twice {
        return Err(HeadersError::Duplicate { header: Excerpt::of(header) });
    }
    if let Some(content_type) = headers.content_type
        && let Some(format) = event_format(content_type)
    {
        return structured(content_type, format, &payload);
    }
    if headers.is_empty() {
        return Event::from_json_bytes(&payload).map_err(HeadersError::NoEvent);
    }
    headers.into_event(payload)
}

/// What follows `application/cloudevents` in a content type, if that is how it begins.
fn event_format(content_type: &str) -> Option<&str> {
    const BEGINNING: &str = "application/cloudevents";
    let essence = media_type::essence(content_type);
    let (beginning, format) = essence.split_at_checked(BEGINNING.len())?;
    (beginning.eq_ignore_ascii_case(BEGINNING) && matches!(format.bytes().next(), None | Some(b'+' | b'-')))
        .then_some(format)
}

fn structured(content_type: &str, format: &str, payload: &Bytes) -> Result<Event, HeadersError> {
    // Without a format it is JSON: the binding has no other.
    if format.is_empty() || format.eq_ignore_ascii_case("+json") {
        return Event::from_json_bytes(payload)
            .map_err(|source| HeadersError::Structured { content_type: Excerpt::of(content_type), source });
    }
    let content_type = Excerpt::of(content_type);
    if format.to_ascii_lowercase().starts_with("-batch") {
        Err(HeadersError::Batch { content_type })
    } else {
        Err(HeadersError::Format { content_type })
    }
}

/// The headers that concern an event, their values as they stand there.
#[derive(Default)]
struct Headers<'m> {
    /// The bare one: the mode, or in the dialect of other SDKs the media type of the data.
    content_type: Option<&'m str>,
    version: Option<&'m str>,
    id: Option<&'m str>,
    source: Option<&'m str>,
    event_type: Option<&'m str>,
    subject: Option<&'m str>,
    time: Option<&'m str>,
    data_content_type: Option<&'m str>,
    schema: Option<&'m str>,
    /// Without the prefix, in lower case.
    extensions: Vec<(Cow<'m, str>, &'m str)>,
    /// The first of those above that stood there twice.
    twice: Option<&'static str>,
}

impl<'m> Headers<'m> {
    fn gathered(headers: &mut dyn Iterator<Item = (&'m str, &'m str)>) -> Self {
        let mut gathered = Self::default();
        for (name, value) in headers {
            gathered.add(name, value);
        }
        gathered
    }

    fn add(&mut self, name: &'m str, value: &'m str) {
        let (place, full_name) = if name.eq_ignore_ascii_case("content-type") {
            (&mut self.content_type, "content-type")
        } else {
            let Some((prefix, name)) = name.split_at_checked(PREFIX.len()) else { return };
            if !prefix.eq_ignore_ascii_case(PREFIX) {
                return;
            }
            let name = lower_case(name);
            match &*name {
                "specversion" => (&mut self.version, "ce-specversion"),
                "id" => (&mut self.id, "ce-id"),
                "source" => (&mut self.source, "ce-source"),
                "type" => (&mut self.event_type, "ce-type"),
                "subject" => (&mut self.subject, "ce-subject"),
                "time" => (&mut self.time, "ce-time"),
                "datacontenttype" => (&mut self.data_content_type, "ce-datacontenttype"),
                "dataschema" => (&mut self.schema, "ce-dataschema"),
                _ => return self.extensions.push((name, value)),
            }
        };
        if place.replace(value).is_some() {
            self.twice.get_or_insert(full_name);
        }
    }

    /// Whether the message does not look like an event at all.
    fn is_empty(&self) -> bool {
        let known = [
            self.content_type,
            self.version,
            self.id,
            self.source,
            self.event_type,
            self.subject,
            self.time,
            self.data_content_type,
            self.schema,
        ];
        self.extensions.is_empty() && known.iter().all(Option::is_none)
    }

    fn into_event(mut self, payload: Bytes) -> Result<Event, HeadersError> {
        // Before all else: an event of another version has other attributes.
        self.check_version()?;
        self.check_extensions()?;

        let id = required("ce-id", self.id)?;
        let source = required("ce-source", self.source)?;
        let event_type = required("ce-type", self.event_type)?;
        let source = UriReference::new(source).map_err(|source| HeadersError::Uri { header: "ce-source", source })?;

        let mut builder = Event::builder(id, source, event_type);
        if let Some(subject) = optional("ce-subject", self.subject)? {
            builder = builder.subject(subject);
        }
        if let Some(time) = optional("ce-time", self.time)? {
            builder = builder.time(Timestamp::new(time).map_err(HeadersError::Time)?);
        }
        if let Some(schema) = optional("ce-dataschema", self.schema)? {
            let schema = Uri::new(schema).map_err(|source| HeadersError::Uri { header: "ce-dataschema", source })?;
            builder = builder.data_schema(schema);
        }
        for (name, value) in self.extensions {
            let Some(value) = percent::decode(value) else { return Err(no_utf_8(&[PREFIX, &name].concat(), value)) };
            builder = builder.extension(name, value.into_owned());
        }
        // Who writes the bare header does not encode it.
        let content_type = optional("ce-datacontenttype", self.data_content_type)?.or(self.content_type.map(Cow::from));
        if let Some(data) = data(content_type.as_deref(), payload) {
            builder = builder.data(content_type.as_deref(), data);
        }
        Ok(builder.build()?)
    }

    fn check_version(&self) -> Result<(), HeadersError> {
        let found = required("ce-specversion", self.version)?;
        match version_flaw(&found) {
            None => Ok(()),
            Some(hint) => Err(HeadersError::Version { found: Excerpt::of(&found), hint }),
        }
    }

    fn check_extensions(&mut self) -> Result<(), HeadersError> {
        self.extensions.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        match self.extensions.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(HeadersError::Duplicate { header: Excerpt::of(&[PREFIX, &pair[0].0].concat()) }),
            None => Ok(()),
        }
    }
}

fn data(content_type: Option<&str>, payload: Bytes) -> Option<Data> {
    match Declared::by(content_type) {
        Declared::Nothing if payload.is_empty() => None,
        Declared::Nothing | Declared::Bytes => Some(Data::Binary(payload)),
        Declared::Json => Some(Data::Json(payload)),
        Declared::Text => Some(Utf8Bytes::new(payload.clone()).map_or(Data::Binary(payload), Data::Text)),
    }
}

fn required<'m>(header: &'static str, value: Option<&'m str>) -> Result<Cow<'m, str>, HeadersError> {
    optional(header, value)?.ok_or(HeadersError::Missing { header })
}

fn optional<'m>(header: &'static str, value: Option<&'m str>) -> Result<Option<Cow<'m, str>>, HeadersError> {
    let Some(value) = value else { return Ok(None) };
    percent::decode(value).map(Some).ok_or_else(|| no_utf_8(header, value))
}

fn no_utf_8(header: &str, value: &str) -> HeadersError {
    HeadersError::Encoding { header: Excerpt::of(header), value: Excerpt::of(value) }
}

/// Names seldom have another case, and are then not copied.
fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}
