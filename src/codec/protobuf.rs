//! Protocol Buffers, by `prost`.

use bytes::Bytes;
use prost::Message;

use super::{Codec, CodecError, Decodes, Encodes};
use crate::event::Data;

/// `application/protobuf`, by `prost`.
///
/// Reads too what the type's registration lists as its former names: `application/x-protobuf` and
/// `application/x-protobuffer` ([IANA](https://www.iana.org/assignments/media-types/application/protobuf)). A field that is
/// generated as `bytes::Bytes` shares the event's bytes; the others are copied. A message that has only default values is
/// empty data, and is read as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protobuf;

impl Codec for Protobuf {
    const ALSO_READS: &'static [&'static str] = &["application/x-protobuf", "application/x-protobuffer"];
    const CONTENT_TYPE: &'static str = "application/protobuf";
}

// Keeps the first line of an error ours instead of prost's.
#[diagnostic::do_not_recommend]
impl<T: Message> Encodes<T> for Protobuf {
    fn encode(value: &T) -> Result<Data, CodecError> {
        Ok(Data::Binary(value.encode_to_vec().into()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Message + Default> Decodes<'_, T> for Protobuf {
    fn decode(data: &Bytes) -> Result<T, CodecError> {
        // Not the bytes by reference: only a `Bytes` can be shared.
        T::decode(data.clone()).map_err(|error| CodecError::Decode { source: error.into() })
    }
}
