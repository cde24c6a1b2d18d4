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
        let (structured, event) = match self.mode {
            ContentMode::Binary => (None, Some(self.event)),
            ContentMode::Structured => (Some(("Content-Type".into(), STRUCTURED.into())), None),
        };
        structured.into_iter().chain(event.into_iter().flat_map(attributes))
    }

    /// Of the headers of binary mode those that an event has in common with others of its kind.
    #[cfg_attr(not(feature = "nats"), allow(dead_code, reason = "for a client that keeps them then"))]
    pub(crate) fn common(&self) -> impl Iterator<Item = (&'static str, Cow<'e, str>)> + use<'e> {
        known(self.event).into_iter().filter(|header| header.is_common).filter_map(Header::encoded)
    }

    /// Of the headers of binary mode those that are an event's own.
    #[cfg_attr(not(feature = "nats"), allow(dead_code, reason = "for a client that keeps the others"))]
    pub(crate) fn own(&self) -> impl Iterator<Item = (Cow<'static, str>, Cow<'e, str>)> + use<'e> {
        let known = known(self.event).into_iter().filter(|header| !header.is_common).filter_map(Header::encoded);
        known.map(|(name, value)| (Cow::Borrowed(name), value)).chain(extensions(self.event))
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

/// The headers of binary mode.
fn attributes(event: &Event) -> impl Iterator<Item = (Cow<'static, str>, Cow<'_, str>)> {
    let known = known(event).into_iter().filter_map(Header::encoded);
    known.map(|(name, value)| (Cow::Borrowed(name), value)).chain(extensions(event))
}

fn extensions(event: &Event) -> impl Iterator<Item = (Cow<'static, str>, Cow<'_, str>)> {
    event.extensions().map(|(name, value)| (Cow::Owned(["ce-", name].concat()), percent::encode(value.to_text())))
}

/// An attribute that the specification names, if the event has it.
struct Header<'e> {
    name: &'static str,
    text: Option<&'e str>,
    /// Whether the events of one kind have the same.
    #[cfg_attr(not(feature = "nats"), allow(dead_code, reason = "for a client that keeps them then"))]
    is_common: bool,
}

impl<'e> Header<'e> {
    fn encoded(self) -> Option<(&'static str, Cow<'e, str>)> {
        Some((self.name, percent::encode(self.text?.into())))
    }

    fn len(&self) -> usize {
        self.text.map_or(0, |text| self.name.len() + text.len())
    }
}

/// The attributes that the specification names.
#[inline]
fn known(event: &Event) -> [Header<'_>; 8] {
    let common = |name, text| Header { name, text, is_common: true };
    let own = |name, text| Header { name, text, is_common: false };
    [
        common("ce-specversion", Some("1.0")),
        own("ce-id", Some(event.id())),
        common("ce-source", Some(event.source().as_str())),
        common("ce-type", Some(event.event_type())),
        own("ce-subject", event.subject()),
        own("ce-time", event.time().map(AsRef::as_ref)),
        common("ce-datacontenttype", event.data_content_type()),
        common("ce-dataschema", event.data_schema().map(AsRef::as_ref)),
    ]
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
    let estimate = known(event).iter().map(Header::len).sum::<usize>() + extensions.sum::<usize>();
    // An encoded byte takes three.
    estimate * 3 <= LONGEST || attributes(event).map(|(name, value)| name.len() + value.len()).sum::<usize>() <= LONGEST
}

/// At least as many bytes as the string form of a value has.
fn longest(value: &Value) -> usize {
    match value {
        Value::Boolean(_) | Value::Integer(_) => 11,
        Value::Binary(bytes) => bytes.len() * 2 + 4,
        text => text.to_text().len(),
    }
}
