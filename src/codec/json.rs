//! JSON, the codec of a bus that names no other.

use std::cell::Cell;

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
        // Taken, so that a value which encodes another one while it is encoded finds an empty one.
        let mut buffer = BUFFER.try_with(Cell::take).unwrap_or_default();
        buffer.clear();
        let written = serde_json::to_writer(&mut buffer, value);
        let bytes = if buffer.capacity() > KEPT {
            buffer.into()
        } else {
            let bytes = Bytes::copy_from_slice(&buffer);
            // A thread that is ending keeps nothing.
            let _ = BUFFER.try_with(|kept| kept.set(buffer));
            bytes
        };
        match written {
            Ok(()) => Ok(Data::Json(bytes)),
            Err(error) => Err(CodecError::Encode { source: error.into() }),
        }
    }
}

/// How large a buffer is kept, in bytes. What is larger is not copied.
const KEPT: usize = 4 << 10;

thread_local! {
    /// Where values are written, since how long they are shows only then: an event then holds as much memory as it has
    /// bytes, in one allocation.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
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
