//! An event over a transport that has headers and a payload, as NATS has: binary and structured mode, written and read.
//!
//! This is the NATS protocol binding of `CloudEvents` (1.0.3, section 3), and names no client. [`encode`] writes what the binding
//! says; [`decode`] reads that, and what other SDKs write in its place.
//!
//! **Binary mode** puts each attribute into a header `ce-<name>`, `ce-datacontenttype` among them, and the data into the payload
//! as it is. A header says less than an event does, and this is where the difference goes:
//! - **The kind of the data** is what the media type says. Under a JSON one it is JSON. Under `text/*`, `application/xml` or `*+xml`,
//!   with no `charset` or one of `utf-8` and `us-ascii`, it is text if the payload is UTF-8. All else is binary. An empty payload is
//!   empty data if there is a media type, and no data if there is none.
//! - **An event of which that is not true is written in structured mode**, which every reader knows, so that it arrives equal
//!   (contract Q2, Q5): JSON without a media type, text under `application/octet-stream`, bytes that are UTF-8 under `text/plain`,
//!   empty bytes without a media type, a media type without data. So is one whose headers would take more than [`LONGEST`] bytes.
//! - **Extension types.** All kinds are written as their string form and read back as String, as in JSON; Boolean and Integer are,
//!   too, and JSON keeps those. [`Value::to_boolean`](super::Value::to_boolean) and its siblings read them either way.
//!
//! **Structured mode** is the JSON format in the payload under a `Content-Type` of `application/cloudevents+json`.

mod error;
mod percent;
pub(crate) mod read;
pub(crate) mod seen;
mod write;

use bytes::Bytes;

pub use self::{error::HeadersError, write::Encoded};
use super::{Event, media_type};

/// The most bytes of headers that [`encode`] writes for one event, names and values together.
///
/// `JetStream` stores 64 KiB of them with a message. The rest is for what a client adds, such as an id to tell duplicates by.
pub const LONGEST: usize = 32 * 1024;

/// How an event is laid over headers and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContentMode {
    /// Attributes in headers, data in the payload.
    #[default]
    Binary,
    /// All of it in the payload, in the JSON format.
    Structured,
}

/// Lays an event over headers and a payload, in this mode; where binary mode cannot carry it, in structured mode
/// (see [the module](self)). There is no event that cannot be written.
///
/// ```
/// use tramline::{event::{Event, headers::{self, ContentMode}}, source};
///
/// let event = Event::builder("17", source!("urn:x"), "invoice raised").json("{}").build()?;
/// let message = headers::encode(&event, ContentMode::Binary);
/// let headers: Vec<_> = message.headers().collect();
/// assert!(headers.contains(&("ce-type".into(), "invoice%20raised".into())));
/// let headers = headers.iter().map(|(name, value)| (&**name, &**value));
/// assert_eq!(headers::decode(headers, message.payload().clone())?, event);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode(event: &Event, mode: ContentMode) -> Encoded<'_> {
    write::encode(event, mode)
}

/// Reads an event from all headers of a message, in any order, and its payload, which is not copied where that can be avoided.
///
/// The case of names does not matter, and headers that do not concern an event are left alone. Read besides what [`encode`] writes:
/// - the media type of the data in a bare `content-type`, which some SDKs write; `ce-datacontenttype` counts if both are there;
/// - values that are not percent-encoded: a `%` that begins no two hexadecimal digits is a percent sign, and a value that is a
///   quoted string is taken out of its quotes;
/// - a message without any of these headers whose payload is an event in the JSON format, as before NATS had headers.
///
/// # Errors
/// The message is no valid event; the error names the header (contract Q1, Q10). It is a batch, which the binding does not have, or
/// in a format other than JSON. A value is no UTF-8 when it is decoded. A header of the event stands there twice.
pub fn decode<'m>(
    headers: impl IntoIterator<Item = (&'m str, &'m str)>,
    payload: Bytes,
) -> Result<Event, HeadersError> {
    let mut all = read::Headers::default();
    headers.into_iter().for_each(|(name, value)| all.add(name, value));
    read::Reader::default().read(all, payload)
}

/// What a media type says about the kind of the data.
enum Declared {
    Nothing,
    Json,
    /// Text, if it is UTF-8.
    Text,
    Bytes,
}

impl Declared {
    fn by(content_type: Option<&str>) -> Self {
        match content_type {
            None => Self::Nothing,
            Some(json) if media_type::is_json(json) => Self::Json,
            Some(text) if media_type::is_text(text) => Self::Text,
            Some(_) => Self::Bytes,
        }
    }
}
