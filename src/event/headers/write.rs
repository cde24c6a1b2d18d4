//! Writing: which mode carries the event as it is, and its headers in that mode.

use std::borrow::Cow;

use bytes::Bytes;

use super::{ContentMode, Declared, LONGEST, percent};
use crate::event::{Data, Event, Value};

const STRUCTURED: &str = "application/cloudevents+json; charset=UTF-8";

/// An event as headers and a payload: what [`encode`](super::encode) gives.
#[derive(Clone, Debug)]
pub struct Encoded<'e> {
    event: &'e Event,
    mode: ContentMode,
    payload: Bytes,
}

pub(super) fn encode(event: &Event, mode: ContentMode) -> Encoded<'_> {
    if mode == ContentMode::Binary && keeps_data(event) && fits(event) {
        let payload = event.data().map(|data| data.bytes().clone()).unwrap_or_default();
        Encoded { event, mode, payload }
    } else {
        Encoded { event, mode: ContentMode::Structured, payload: event.to_json().into() }
    }
}

impl<'e> Encoded<'e> {
    /// The mode that the event is written in: the one that was asked for, or structured where binary mode cannot carry the event.
    pub fn mode(&self) -> ContentMode {
        self.mode
    }

    /// The headers, name and value. A name is borrowed unless it is that of an extension; a value, unless something of it has to be
    /// percent-encoded. Both are ASCII without white space, but for the `Content-Type` of structured mode, which has a space.
    pub fn headers(&self) -> impl Iterator<Item = (Cow<'static, str>, Cow<'e, str>)> + use<'e> {
        let common = self.common().map(|(name, value)| (Cow::Borrowed(name), value));
        common.chain(self.own())
    }

    /// Those that an event has in common with others of its source and its kind, or the one of structured mode.
    pub(crate) fn common(&self) -> impl Iterator<Item = (&'static str, Cow<'e, str>)> + use<'e> {
        let (structured, binary) = match self.mode {
            ContentMode::Binary => (None, Some(common(self.event))),
            ContentMode::Structured => (Some(("Content-Type", STRUCTURED.into())), None),
        };
        structured.into_iter().chain(binary.into_iter().flatten().flatten().map(encoded))
    }

    /// All the others.
    pub(crate) fn own(&self) -> impl Iterator<Item = (Cow<'static, str>, Cow<'e, str>)> + use<'e> {
        let event = match self.mode {
            ContentMode::Binary => Some(self.event),
            ContentMode::Structured => None,
        };
        event.into_iter().flat_map(own)
    }

    /// The payload. Data is shared with the event, not copied.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// The payload, without a copy.
    pub fn into_payload(self) -> Bytes {
        self.payload
    }
}

/// An attribute under the name of its header.
type Known<'e> = Option<(&'static str, &'e str)>;

/// The attributes that events have in common.
fn common(event: &Event) -> [Known<'_>; 5] {
    [
        Some(("ce-specversion", "1.0")),
        Some(("ce-source", event.source().as_str())),
        Some(("ce-type", event.event_type())),
        event.data_content_type().map(|content_type| ("ce-datacontenttype", content_type)),
        event.data_schema().map(|schema| ("ce-dataschema", schema.as_str())),
    ]
}

/// The others that the specification names.
fn own_known(event: &Event) -> [Known<'_>; 3] {
    [
        Some(("ce-id", event.id())),
        event.time().map(|time| ("ce-time", time.as_str())),
        event.subject().map(|subject| ("ce-subject", subject)),
    ]
}

/// The headers that are an event's own.
fn own(event: &Event) -> impl Iterator<Item = (Cow<'static, str>, Cow<'_, str>)> {
    let known = own_known(event).into_iter().flatten().map(encoded);
    let extensions = event.extensions();
    known
        .map(|(name, value)| (Cow::Borrowed(name), value))
        .chain(extensions.map(|(name, value)| (Cow::Owned(["ce-", name].concat()), percent::encode(value.to_text()))))
}

fn encoded<'e>((name, text): (&'static str, &'e str)) -> (&'static str, Cow<'e, str>) {
    (name, percent::encode(text.into()))
}

/// Whether the media type says of the data what it is, so that it is read as that.
fn keeps_data(event: &Event) -> bool {
    match (Declared::by(event.data_content_type()), event.data()) {
        (Declared::Nothing, None)
        | (Declared::Json, Some(Data::Json(_)))
        | (Declared::Text, Some(Data::Text(_)))
        | (Declared::Bytes, Some(Data::Binary(_))) => true,
        (Declared::Nothing, Some(Data::Binary(bytes))) => !bytes.is_empty(),
        (Declared::Text, Some(Data::Binary(bytes))) => std::str::from_utf8(bytes).is_err(),
        _ => false,
    }
}

/// Whether the headers are not too long. Nearly every event is far below that, which is seen without encoding anything.
fn fits(event: &Event) -> bool {
    let extensions = event.extensions().map(|(name, value)| "ce-".len() + name.len() + longest(value));
    let length =
        |known: &[Known<'_>]| known.iter().flatten().map(|(name, text)| name.len() + text.len()).sum::<usize>();
    let estimate = length(&common(event)) + length(&own_known(event)) + extensions.sum::<usize>();
    // An encoded byte takes three.
    estimate * 3 <= LONGEST || {
        let common = common(event).into_iter().flatten().map(encoded).map(|(name, value)| name.len() + value.len());
        let own = own(event).map(|(name, value)| name.len() + value.len());
        common.chain(own).sum::<usize>() <= LONGEST
    }
}

/// At least as many bytes as the string form of a value has.
fn longest(value: &Value) -> usize {
    match value {
        Value::Boolean(_) | Value::Integer(_) => 11,
        Value::Binary(bytes) => bytes.len() * 2 + 4,
        text => text.to_text().len(),
    }
}
