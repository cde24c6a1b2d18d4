//! Reading: all headers first, as they are written, then the mode, then what each of them means.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;

use super::{Declared, HeadersError, percent, seen::Seen};
use crate::{
    event::{
        Data, Event, Excerpt, Timestamp, Uri, UriReference, Utf8Bytes, Value,
        builder::{self, check_content_type},
        envelope::Inner,
        error::version_flaw,
        event_type::EventType,
        extension_name, media_type,
        on_demand::OnDemand,
    },
    text::Text,
};

const PREFIX: &str = "ce-";

/// Reads one message after the other, and what it has checked in one it need not check in the next.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    sources: Seen<UriReference>,
    types: Seen<EventType>,
    content_types: Seen<Text>,
    schemas: Seen<Uri>,
}

impl Reader {
    /// Reads an event from all headers of a message and its payload.
    pub(crate) fn read(&mut self, mut headers: Headers<'_>, mut payload: Bytes) -> Result<Event, HeadersError> {
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
        match headers.plain_event(&mut payload, self) {
            Some(event) => Ok(event),
            None => headers.into_event(payload),
        }
    }
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
pub(crate) struct Headers<'m> {
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
    /// Takes one more in.
    pub(crate) fn add(&mut self, name: &'m str, value: &'m str) {
        // In the case that nearly everybody writes.
        let (place, full_name) = match name {
            "ce-specversion" => (&mut self.version, "ce-specversion"),
            "ce-id" => (&mut self.id, "ce-id"),
            "ce-source" => (&mut self.source, "ce-source"),
            "ce-type" => (&mut self.event_type, "ce-type"),
            "ce-time" => (&mut self.time, "ce-time"),
            "ce-datacontenttype" => (&mut self.data_content_type, "ce-datacontenttype"),
            _ => return self.add_in_any_case(name, value),
        };
        if place.replace(value).is_some() {
            self.twice.get_or_insert(full_name);
        }
    }

    fn add_in_any_case(&mut self, name: &'m str, value: &'m str) {
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

    /// The event of a message as nearly all of them are: valid, and no value of it is encoded. None of any other, which
    /// [`into_event`](Self::into_event) reads, or says what is wrong with it.
    fn plain_event(&mut self, payload: &mut Bytes, reader: &mut Reader) -> Option<Event> {
        if self.version != Some("1.0") || self.check_extensions().is_err() {
            return None;
        }
        let id = not_empty(self.id?)?.to_owned();
        let source = |text| UriReference::new(not_empty(text).ok_or(())?).map_err(drop);
        let source = reader.sources.find(self.source?, source).ok()?;
        let event_type = |text| not_empty(text).map(|text| EventType::Shared(text.into())).ok_or(());
        let event_type = reader.types.find(self.event_type?, event_type).ok()?;

        let subject = match self.subject {
            None => None,
            Some(text) => Some(not_empty(text)?.to_owned()),
        };
        let time = match self.time {
            None => None,
            Some(text) => Some(OnDemand::Given(Timestamp::new(plain(text)?).ok()?)),
        };
        let schema = |text| Uri::new(plain(text).ok_or(())?).map_err(drop);
        let data_schema = match self.schema {
            None => None,
            Some(text) => Some(reader.schemas.find(text, schema).ok()?),
        };
        let content_type = match self.data_content_type.or(self.content_type) {
            None => None,
            Some(text) => {
                let checked = |text| {
                    check_content_type(plain(text).ok_or(())?).map_err(drop)?;
                    Ok::<_, ()>(builder::shared(text))
                };
                Some(reader.content_types.find(text, checked).ok()?)
            }
        };
        let mut extensions = Vec::with_capacity(self.extensions.len());
        for (name, value) in &self.extensions {
            extension_name::check(name).ok()?;
            extensions.push((name.clone().into_owned(), Value::String(plain(value)?.to_owned())));
        }
        let data = data(content_type.as_ref().map(Text::as_str), std::mem::take(payload));
        let id = OnDemand::Given(id);
        let inner = Inner { id, source, event_type, subject, time, content_type, data_schema, extensions, data };
        Some(Event::from_checked(Arc::new(inner)))
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

/// A value that is its own text, and of valid characters.
fn plain(value: &str) -> Option<&str> {
    percent::is_all_plain(value).then_some(value)
}

/// The same, and not empty.
fn not_empty(value: &str) -> Option<&str> {
    plain(value).filter(|value| !value.is_empty())
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

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    type Message = (Vec<(&'static str, String)>, Bytes);

    /// Such as come again, and some that are encoded, or wrong.
    fn value() -> impl Strategy<Value = String> {
        let again = vec![
            "1.0",
            "1",
            "urn:x",
            "application/json",
            "text/plain",
            "2026-01-31T12:34:56.5Z",
            "https://x/y#z",
            "a/b",
        ];
        let wrong =
            vec!["", "0.3", "a b", "%41", "%", "\"q\"", "\u{e9}", "\u{7f}", "2026-02-30T00:00:00Z", "a:b:%zz", "<x>"];
        prop_oneof![6 => select(again), 1 => select(wrong)].prop_map(str::to_owned)
    }

    fn message() -> impl Strategy<Value = Message> {
        let core = [("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "urn:x"), ("ce-type", "com.example.t")];
        let core = core.map(|(name, usual)| {
            prop_oneof![9 => Just(usual.to_owned()), 1 => value()].prop_map(move |value| (name, value))
        });
        let names = [
            "ce-subject",
            "ce-time",
            "ce-datacontenttype",
            "ce-dataschema",
            "content-type",
            "ce-ext",
            "CE-Ext",
            "ce-data",
        ];
        let more = vec((select(names.to_vec()), value()), 0..5);
        (core, more, select(vec!["", "{}", "\u{e9}"]))
            .prop_map(|(core, more, payload)| (core.into_iter().chain(more).collect(), payload.into()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn q10_what_is_read_at_once_is_what_is_read_the_long_way(messages in vec(message(), 1..6)) {
            let mut reader = Reader::default();
            for (headers, payload) in messages {
                let gathered = || {
                    let mut gathered = Headers::default();
                    headers.iter().for_each(|(name, value)| gathered.add(name, value));
                    gathered
                };
                if gathered().twice.is_some() || gathered().content_type.is_some_and(|text| event_format(text).is_some()) {
                    continue;
                }
                let long = gathered().into_event(payload.clone());
                let read = reader.read(gathered(), payload);
                prop_assert_eq!(read.map_err(|error| error.to_string()), long.map_err(|error| error.to_string()));
            }
        }
    }

    #[test]
    fn a_usual_message_is_read_at_once_and_what_came_before_is_shared() {
        let headers = [
            ("ce-specversion", "1.0"),
            ("ce-id", "1"),
            ("ce-source", "urn:example:x"),
            ("ce-type", "com.example.t"),
            ("ce-subject", "s"),
            ("ce-time", "2026-01-02T03:04:05.678Z"),
            ("ce-datacontenttype", "application/json"),
            ("ce-dataschema", "https://example.com/s"),
            ("ce-traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ];
        let mut reader = Reader::default();
        let mut read = || {
            let mut gathered = Headers::default();
            headers.iter().for_each(|(name, value)| gathered.add(name, value));
            gathered.plain_event(&mut Bytes::from_static(b"{}"), &mut reader).expect("it is plain")
        };
        let (one, other) = (read(), read());
        assert_eq!(one, other);
        assert_eq!(one.source().as_str().as_ptr(), other.source().as_str().as_ptr());
        assert_eq!(one.event_type().as_ptr(), other.event_type().as_ptr());
    }
}
