//! Text that is parsed once and shared from then on, and how a constant function reads it.

use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// Immutable text: a literal of the program, which a clone only copies the address of, or a shared allocation.
#[derive(Clone)]
pub(crate) enum Text {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Text {
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Static(text) => text,
            Self::Shared(text) => text,
        }
    }

    /// The text of a literal, which is all that there is while the program is compiled.
    pub(crate) const fn as_literal(&self) -> Option<&'static str> {
        match self {
            Self::Static(text) => Some(text),
            Self::Shared(_) => None,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Shared(text.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Shared(text.into())
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The character that begins at `at` in UTF-8 text, and its width in bytes.
pub(crate) const fn char_at(bytes: &[u8], at: usize) -> (char, usize) {
    const fn tail(byte: u8) -> u32 {
        (byte & 0x3f) as u32
    }
    let first = bytes[at];
    let (code, width) = match first {
        0..0x80 => (first as u32, 1),
        0x80..0xe0 => (((first & 0x1f) as u32) << 6 | tail(bytes[at + 1]), 2),
        0xe0..0xf0 => (((first & 0x0f) as u32) << 12 | tail(bytes[at + 1]) << 6 | tail(bytes[at + 2]), 3),
        0xf0.. => {
            let high = ((first & 0x07) as u32) << 18 | tail(bytes[at + 1]) << 12;
            (high | tail(bytes[at + 2]) << 6 | tail(bytes[at + 3]), 4)
        }
    };
    match char::from_u32(code) {
        Some(c) => (c, width),
        None => (char::REPLACEMENT_CHARACTER, width), // cannot be: a `&str` holds only whole characters
    }
}
