//! An event as a NATS message, and back.

use std::borrow::Cow;

use async_nats::{HeaderMap, HeaderName, Message as Wire, Subject as Address};
use bytes::Bytes;

use super::kinds::Kinds;
use crate::{
    contract::{Malformed, Message},
    event::{
        Event,
        headers::{
            self, ContentMode, LONGEST,
            read::{Headers, Reader as EventReader},
            seen::Seen,
        },
    },
    subject::{Subject, SubjectError},
};

/// Writes the events of one session.
#[derive(Debug)]
pub(in crate::backend) struct Writer {
    mode: ContentMode,
    kinds: Kinds,
}

impl Writer {
    pub(in crate::backend) fn new(mode: ContentMode) -> Self {
        Self { mode, kinds: Kinds::default() }
    }

    /// An event's headers and its payload.
    pub(in crate::backend) fn write(&self, event: &Event) -> (HeaderMap, Bytes) {
        let encoded = headers::encode(event, self.mode);
        let headers = match encoded.mode() {
            ContentMode::Binary => {
                let common =
                    || with(HeaderMap::new(), encoded.common().map(|(name, value)| (Cow::Borrowed(name), value)));
                with(self.kinds.headers(event, common), encoded.own())
            }
            ContentMode::Structured => with(HeaderMap::new(), encoded.headers()),
        };
        (headers, encoded.into_payload())
    }
}

/// The headers with these put in.
fn with<'e>(mut headers: HeaderMap, more: impl Iterator<Item = (Cow<'static, str>, Cow<'e, str>)>) -> HeaderMap {
    for (name, value) in more {
        match name {
            // Neither checked nor copied: the names of the core attributes are known to be right.
            Cow::Borrowed(name) => headers.insert(HeaderName::from_static(name), value.into_owned()),
            Cow::Owned(name) => headers.insert(name, value.into_owned()),
        }
    }
    headers
}

/// Reads messages, one after the other.
#[derive(Debug, Default)]
pub(in crate::backend) struct Reader {
    events: EventReader,
    subjects: Seen<Subject>,
}

impl Reader {
    /// The event that a message carries, whatever it was sent to.
    pub(in crate::backend) fn event(&mut self, message: Wire) -> Result<Event, Malformed> {
        let mut headers = Headers::default();
        for (name, values) in message.headers.iter().flat_map(HeaderMap::iter) {
            values.iter().for_each(|value| headers.add(name.as_ref(), value.as_str()));
        }
        let read = self.events.read(headers, message.payload);
        read.map_err(|error| Malformed::new(error).at(message.subject.as_str()))
    }

    /// The message with its subject, or what is wrong with one of the two (contract Q10).
    pub(in crate::backend) fn message(&mut self, message: Wire) -> Result<Message, Malformed> {
        let subject = self.subjects.find(&message.subject, Subject::new);
        let subject = subject.map_err(|error: SubjectError| Malformed::new(error).at(message.subject.as_str()))?;
        Ok(Message { subject, event: self.event(message)? })
    }
}

/// Where to send what is sent to a subject. That of a literal is not copied.
pub(in crate::backend) fn address(subject: &Subject) -> Address {
    subject.as_literal().map_or_else(|| subject.as_str().into(), Address::from_static)
}

/// The size of a message if that is above the limit, in bytes, as the server counts it.
pub(in crate::backend) fn too_large(headers: &HeaderMap, payload: &Bytes, limit: usize) -> Option<usize> {
    /// No headers of ours are longer: a name has four bytes at least, and to a name and a value another four are added; and there
    /// may be an id to tell duplicates by.
    const HEADERS: usize = 3 * LONGEST;
    if payload.len() + HEADERS <= limit {
        return None;
    }
    let size = size(headers, payload);
    (size > limit).then_some(size)
}

/// The size of a message in bytes, as the server counts it.
pub(in crate::backend) fn size(headers: &HeaderMap, payload: &Bytes) -> usize {
    const FRAME: usize = "NATS/1.0\r\n".len() + "\r\n".len();
    let lines = headers.iter().flat_map(|(name, values)| {
        let name: &str = name.as_ref();
        values.iter().map(|value| name.len() + ": ".len() + value.as_str().len() + "\r\n".len())
    });
    FRAME + lines.sum::<usize>() + payload.len()
}
