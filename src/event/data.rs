//! What an event carries: JSON, text or bytes, each held as bytes.

use std::{fmt, ops::Deref};

use bytes::Bytes;
use bytestring::ByteString;

/// The data of an event. Equality includes the kind: the text `1` is not the JSON `1` (contract Q5).
///
/// The bytes are shared, never copied and never changed.
#[derive(Clone, PartialEq, Eq)]
pub enum Data {
    /// Declared to be JSON. The bytes are kept as they are and are not checked: what is no JSON shows when it is decoded.
    Json(Bytes),
    /// Text.
    Text(Utf8Bytes),
    /// Bytes that only their media type gives a meaning.
    Binary(Bytes),
}

impl Data {
    /// The bytes, whatever the kind.
    #[inline]
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Json(bytes) | Self::Binary(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }

    /// The bytes, whatever the kind, without a copy.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Json(bytes) | Self::Binary(bytes) => bytes,
            Self::Text(text) => text.into_bytes(),
        }
    }
}

/// The kind and the length. The content stays out of logs: it may be large, and it may be secret.
impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Json(_) => "Json",
            Self::Text(_) => "Text",
            Self::Binary(_) => "Binary",
        };
        write!(f, "{name}({} bytes)", self.bytes().len())
    }
}

/// Shared bytes that are valid UTF-8, checked once.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Utf8Bytes(ByteString);

impl Utf8Bytes {
    /// Checks the bytes and keeps them, without a copy.
    ///
    /// # Errors
    /// The bytes are not UTF-8. The error says where.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Self, std::str::Utf8Error> {
        let bytes = bytes.into();
        std::str::from_utf8(&bytes)?;
        ByteString::try_from(bytes).map(Self)
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes of the text.
    #[inline]
    pub fn as_bytes(&self) -> &Bytes {
        self.0.as_bytes()
    }

    /// The bytes of the text, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

impl Deref for Utf8Bytes {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<String> for Utf8Bytes {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for Utf8Bytes {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl TryFrom<Bytes> for Utf8Bytes {
    type Error = std::str::Utf8Error;

    fn try_from(bytes: Bytes) -> Result<Self, Self::Error> {
        Self::new(bytes)
    }
}

impl fmt::Debug for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Utf8Bytes({} bytes)", self.len())
    }
}

impl fmt::Display for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
