//! How values become the data of an event, and back.
//!
//! A bus has one codec, named where it is built; without a name it is [`Json`].
//!
//! | codec | feature | content type | reads also | values | borrows |
//! |---|---|---|---|---|---|
//! | [`Json`] | – | `application/json` | JSON without a content type | `serde` | text without escapes |
//! | `MessagePack` | `messagepack` | `application/vnd.msgpack` | `application/msgpack`, `application/x-msgpack` | `serde` | text, bytes |
//! | `Cbor` | `cbor` | `application/cbor` | – | `serde` | nothing |
//! | `Protobuf` | `protobuf` | `application/protobuf` | `application/x-protobuf`, `application/x-protobuffer` | `prost` | `Bytes` fields |
//!
//! *Values* is what a type derives to be carried; a value that the bus's codec cannot carry does not compile. *Borrows* is
//! what a decoded value can take from the event without a copy.
//!
//! Data is read as the bus's codec only if its content type says so, without case and parameters (contract P4). A type
//! with a suffix, such as `application/vnd.example+json`, is another type. What is truncated, followed by something else
//! or nested without end is an error, whoever sent it: no codec goes deeper than 128 levels.
//!
//! To bring a codec of one's own, implement [`Codec`], and [`Encodes`] and [`Decodes`] for what it carries.

#[cfg(feature = "cbor")]
mod cbor;
mod json;
#[cfg(feature = "messagepack")]
mod messagepack;
#[cfg(feature = "protobuf")]
mod protobuf;

use std::error::Error;

use bytes::Bytes;

#[cfg(feature = "cbor")]
pub use self::cbor::Cbor;
pub use self::json::Json;
#[cfg(feature = "messagepack")]
pub use self::messagepack::MessagePack;
#[cfg(feature = "protobuf")]
pub use self::protobuf::Protobuf;
use crate::event::{Data, Event, media_type};

/// Turns values into an event's data and back. One per bus, JSON unless said otherwise (contract P1).
///
/// Which values it carries is said by [`Encodes`] and [`Decodes`]: a value that the bus's codec cannot carry does not
/// compile.
pub trait Codec: Send + Sync + 'static {
    /// The media type that the codec writes and reads.
    const CONTENT_TYPE: &'static str;

    /// Other names of the same format, which are read too and never written. None, unless the format has been renamed.
    const ALSO_READS: &'static [&'static str] = &[];

    /// Whether data without a content type may be read (contract P4). Never, unless the kind of data says enough.
    fn reads_untyped(_data: &Data) -> bool {
        false
    }
}

/// A codec that can write a `T`.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be encoded by the bus's codec `{Self}`",
    label = "not encodable",
    note = "derive what the codec asks for: `serde::Serialize`, or `prost::Message` for `Protobuf`; or build the bus with another codec"
)]
pub trait Encodes<T: ?Sized>: Codec {
    /// Writes the value.
    ///
    /// # Errors
    /// [`CodecError::Encode`] with what the format's library said.
    fn encode(value: &T) -> Result<Data, CodecError>;
}

/// A codec that can read a `T`, which may borrow from the data.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be decoded by the bus's codec `{Self}`",
    label = "not decodable",
    note = "derive what the codec asks for: `serde::Deserialize`, or `prost::Message` for `Protobuf`; or build the bus with another codec"
)]
pub trait Decodes<'d, T>: Codec {
    /// Reads a value from all of the data. The bytes are shared: a clone of a part of them costs no copy.
    ///
    /// # Errors
    /// [`CodecError::Decode`] with what the format's library said.
    fn decode(data: &'d Bytes) -> Result<T, CodecError>;
}

/// Reads the value that an event carries, after comparing its content type with the codec's, without case and
/// parameters (contract P4).
///
/// # Errors
/// The content types differ, there is no data, or the data is not such a value.
pub fn decode<'d, C: Decodes<'d, T>, T>(event: &'d Event) -> Result<T, CodecError> {
    let Some(data) = event.data() else { return Err(CodecError::NoData) };
    match event.data_content_type() {
        // The same text is the usual case, and much cheaper to see.
        Some(found) if found == C::CONTENT_TYPE || reads::<C>(found) => {}
        Some(found) => {
            return Err(CodecError::WrongContentType { expected: C::CONTENT_TYPE, found: found.to_owned() });
        }
        None if C::reads_untyped(data) => {}
        None => return Err(CodecError::NoContentType { expected: C::CONTENT_TYPE }),
    }
    C::decode(data.bytes())
}

/// Whether this is the codec's media type, or another name of it.
fn reads<C: Codec>(found: &str) -> bool {
    let same = |own: &&str| media_type::essence_eq(found, own);
    same(&C::CONTENT_TYPE) || C::ALSO_READS.iter().any(same)
}

/// Why a value could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The event says that its data is something else.
    #[error("the codec reads `{expected}`, and the event carries `{found}`")]
    WrongContentType {
        /// The codec's media type.
        expected: &'static str,
        /// The event's.
        found: String,
    },
    /// The event does not say what its data is.
    #[error("the codec reads `{expected}`, and the event has data without `datacontenttype`")]
    NoContentType {
        /// The codec's media type.
        expected: &'static str,
    },
    /// The event has no data.
    #[error("the event has no data")]
    NoData,
    /// The data is not such a value.
    #[error("the data cannot be decoded")]
    Decode {
        /// What the format's library said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The value cannot be written in this format.
    #[error("the value cannot be encoded")]
    Encode {
        /// What the format's library said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}
