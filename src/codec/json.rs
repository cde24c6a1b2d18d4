//! JSON, the codec of a bus that names no other.

use bytes::Bytes;

use super::{Codec, CodecError, Decodes, Encodes};
use crate::event::Data;

/// `application/json`, by `serde_json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json;

impl Codec for Json {
    const CONTENT_TYPE: &'static str = "application/json";

    fn reads_untyped(data: &Data) -> bool {
        matches!(data, Data::Json(_))
    }
}

// Keeps the first line of an error ours instead of serde's.
#[diagnostic::do_not_recommend]
impl<T: serde::Serialize + ?Sized> Encodes<T> for Json {
    fn encode(value: &T) -> Result<Data, CodecError> {
        match serde_json::to_vec(value) {
            Ok(bytes) => Ok(Data::Json(bytes.into())),
            Err(error) => Err(CodecError::Encode { source: error.into() }),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<'d, T: serde::Deserialize<'d>> Decodes<'d, T> for Json {
    fn decode(data: &'d Bytes) -> Result<T, CodecError> {
        // The whole of it is checked to be UTF-8 at once, which is much cheaper than text by text. What is not says so
        // with its place when it is read as bytes.
        let decoded = match std::str::from_utf8(data) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(data),
        };
        decoded.map_err(|error| CodecError::Decode { source: error.into() })
    }
}
