//! An event as a NATS message, and back.

use std::borrow::Cow;

use async_nats::{HeaderMap, HeaderName, Message as Wire};
use bytes::Bytes;

use crate::{
    contract::{Malformed, Message},
    event::{
        Event,
        headers::{self, ContentMode},
    },
    subject::{Subject, SubjectError},
};

/// An event's headers and its payload.
pub(in crate::backend) fn encode(event: &Event, mode: ContentMode) -> (HeaderMap, Bytes) {
    let encoded = headers::encode(event, mode);
    let mut headers = HeaderMap::new();
    for (name, value) in encoded.headers() {
        match name {
            // Neither checked nor copied: the names of the core attributes are known to be right.
            Cow::Borrowed(name) => headers.insert(HeaderName::from_static(name), value.into_owned()),
            Cow::Owned(name) => headers.insert(name, value.into_owned()),
        }
    }
    (headers, encoded.into_payload())
}

/// The event that a message carries, whatever it was sent to.
pub(in crate::backend) fn event(message: &Wire) -> Result<Event, Malformed> {
    let headers = message.headers.iter().flat_map(HeaderMap::iter);
    let headers = headers.flat_map(|(name, values)| values.iter().map(|value| (name.as_ref(), value.as_str())));
    headers::decode(headers, message.payload.clone())
        .map_err(|error| Malformed::new(error).at(message.subject.as_str()))
}

/// The message with its subject, or what is wrong with one of the two (contract Q10).
pub(in crate::backend) fn decode(message: &Wire) -> Result<Message, Malformed> {
    let subject = Subject::new(&*message.subject)
        .map_err(|error: SubjectError| Malformed::new(error).at(message.subject.as_str()))?;
    Ok(Message { subject, event: event(message)? })
}

/// The size of a message as the server counts it, in bytes.
pub(in crate::backend) fn size(headers: &HeaderMap, payload: &Bytes) -> usize {
    const FRAME: usize = "NATS/1.0\r\n".len() + "\r\n".len();
    let lines = headers.iter().flat_map(|(name, values)| {
        let name: &str = name.as_ref();
        values.iter().map(|value| name.len() + ": ".len() + value.as_str().len() + "\r\n".len())
    });
    FRAME + lines.sum::<usize>() + payload.len()
}
