//! CBOR, by `ciborium`.

use std::error::Error;

use bytes::Bytes;
use ciborium::de;
use serde::{Serialize, de::DeserializeOwned};

use super::{Codec, CodecError, Decodes, Encodes};
use crate::event::Data;

/// Arrays, maps and enums within each other.
const DEEPEST: usize = 128;

/// `application/cbor` of RFC 8949, by `ciborium`.
///
/// Structs are maps by field name. Numbers are written as short as they can be and read at any width; tags that a value
/// does not ask for are passed over. Decoded values own what they hold, because `ciborium` does not borrow: a payload with a
/// lifetime, as in `Payload<Invoice<'_>>`, does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cbor;

impl Codec for Cbor {
    const CONTENT_TYPE: &'static str = "application/cbor";
}

// Keeps the first line of an error ours instead of serde's.
#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> Encodes<T> for Cbor {
    fn encode(value: &T) -> Result<Data, CodecError> {
        let mut bytes = Vec::new();
        match ciborium::into_writer(value, &mut bytes) {
            Ok(()) => Ok(Data::Binary(bytes.into())),
            Err(ciborium::ser::Error::Value(said)) => Err(CodecError::Encode { source: said.into() }),
            Err(ciborium::ser::Error::Io(error)) => Err(CodecError::Encode { source: error.into() }),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Decodes<'_, T> for Cbor {
    fn decode(data: &Bytes) -> Result<T, CodecError> {
        let mut rest = &data[..];
        match de::from_reader_with_recursion_limit(&mut rest, DEEPEST) {
            Ok(_) if !rest.is_empty() => Err(CodecError::Decode {
                source: format!("the data goes on for {} B after the value", rest.len()).into(),
            }),
            Ok(value) => Ok(value),
            Err(error) => Err(CodecError::Decode { source: in_words(error) }),
        }
    }
}

/// The library shows its errors as a debugger would.
fn in_words<E: Error + Send + Sync + 'static>(error: de::Error<E>) -> Box<dyn Error + Send + Sync> {
    match error {
        de::Error::Io(_) => "the data ends within a value".into(),
        de::Error::Syntax(at) => format!("what begins at byte {at} is no CBOR").into(),
        de::Error::Semantic(Some(at), said) => format!("{said} at byte {at}").into(),
        de::Error::Semantic(None, said) => said.into(),
        de::Error::RecursionLimitExceeded => format!("the value is nested deeper than {DEEPEST} levels").into(),
    }
}
