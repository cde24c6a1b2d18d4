//! What an extension attribute can hold: the seven types of the specification.

use std::{borrow::Cow, fmt};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;

use super::{Timestamp, Uri, UriReference};

/// The value of an extension attribute (contract Q4).
///
/// **Equality.** Most formats, JSON among them, write the last five kinds as a string and do not say which it was. Values of
/// these kinds are therefore equal when their [string forms](#impl-Display-for-Value) are, so that an event equals itself after
/// any way through any format (contract Q2). A Boolean or an Integer only equals its own kind. A reader that expects a kind asks
/// for it, as with [`to_timestamp`](Self::to_timestamp), and gets the same answer whether the format kept the kind or not.
#[derive(Clone)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number of 32 bits.
    Integer(i32),
    /// Text without control characters and noncharacters, which [`build`](super::EventBuilder::build) checks.
    String(String),
    /// Bytes.
    Binary(Bytes),
    /// A URI.
    Uri(Uri),
    /// A URI-reference.
    UriReference(UriReference),
    /// A time.
    Timestamp(Timestamp),
}

impl Value {
    /// The Boolean, of its own kind or of its string form.
    pub fn to_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The number, of its own kind or of its string form.
    pub fn to_integer(&self) -> Option<i32> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::String(text) if !text.starts_with('+') => text.parse().ok(),
            _ => None,
        }
    }

    /// The bytes, of their own kind or of their string form, which is base64.
    pub fn to_binary(&self) -> Option<Bytes> {
        match self {
            Self::Binary(bytes) => Some(bytes.clone()),
            Self::String(text) => BASE64_STANDARD.decode(text).ok().map(Bytes::from),
            _ => None,
        }
    }

    /// The URI, of its own kind or of its string form.
    pub fn to_uri(&self) -> Option<Uri> {
        match self {
            Self::Uri(uri) => Some(uri.clone()),
            Self::UriReference(uri) => Uri::new(uri).ok(),
            Self::String(text) => Uri::new(text).ok(),
            _ => None,
        }
    }

    /// The URI-reference, of its own kind, of a URI or of its string form.
    pub fn to_uri_reference(&self) -> Option<UriReference> {
        match self {
            Self::UriReference(uri) => Some(uri.clone()),
            Self::Uri(uri) => Some(uri.clone().into()),
            Self::String(text) => UriReference::new(text).ok(),
            _ => None,
        }
    }

    /// The time, of its own kind or of its string form.
    pub fn to_timestamp(&self) -> Option<Timestamp> {
        match self {
            Self::Timestamp(time) => Some(time.clone()),
            Self::String(text) => Timestamp::new(text).ok(),
            _ => None,
        }
    }

    /// The string form, borrowed where it is there already.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Boolean(true) => "true".into(),
            Self::Boolean(false) => "false".into(),
            Self::Integer(value) => value.to_string().into(),
            Self::String(text) => text.into(),
            Self::Binary(bytes) => BASE64_STANDARD.encode(bytes).into(),
            Self::Uri(uri) => uri.as_str().into(),
            Self::UriReference(uri) => uri.as_str().into(),
            Self::Timestamp(time) => time.as_str().into(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Boolean(left), Self::Boolean(right)) => left == right,
            (Self::Integer(left), Self::Integer(right)) => left == right,
            (Self::Binary(left), Self::Binary(right)) => left == right,
            (Self::Boolean(_) | Self::Integer(_), _) | (_, Self::Boolean(_) | Self::Integer(_)) => false,
            _ => self.to_text() == other.to_text(),
        }
    }
}

impl Eq for Value {}

/// The string form that the specification gives each type; that of Binary is base64.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "Boolean({value})"),
            Self::Integer(value) => write!(f, "Integer({value})"),
            Self::String(text) => write!(f, "String({text:?})"),
            Self::Binary(bytes) => write!(f, "Binary({} bytes)", bytes.len()),
            Self::Uri(uri) => write!(f, "Uri({uri:?})"),
            Self::UriReference(uri) => write!(f, "UriReference({uri:?})"),
            Self::Timestamp(time) => write!(f, "Timestamp({time:?})"),
        }
    }
}

macro_rules! from {
    ($($type:ty => $kind:ident),*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$kind(value.into())
            }
        }
    )*};
}

from!(
    bool => Boolean, i32 => Integer, &str => String, String => String, Bytes => Binary, Uri => Uri,
    UriReference => UriReference, Timestamp => Timestamp
);

/// The first character that the specification's String excludes: a control character or a noncharacter.
pub(super) fn forbidden_character(text: &str) -> Option<char> {
    // Without an early end, so that the compiler looks at many bytes at once.
    if text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
        return None;
    }
    text.chars().find(|&c| is_forbidden(c))
}

/// Whether the specification's String excludes it. `char::is_control` is no `const fn` yet.
pub(super) const fn is_forbidden(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fdd0}'..='\u{fdef}') || (c as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_are_written_as_a_string_are_equal_by_it() {
        let time = "2026-01-01T00:00:00Z";
        assert_eq!(Value::from(time), Timestamp::new(time).unwrap().into());
        assert_eq!(Value::from("AQI="), Bytes::from_static(&[1, 2]).into());
        assert_eq!(Value::from(Uri::new("a:b").unwrap()), UriReference::new("a:b").unwrap().into());
        assert_ne!(Value::from("true"), true.into());
        assert_ne!(Value::from("1"), 1.into());
    }

    #[test]
    fn a_reader_gets_its_kind_from_the_string_form_too() {
        for value in [Value::from(true), Value::from("true")] {
            assert_eq!(value.to_boolean(), Some(true));
        }
        assert_eq!(Value::from("-7").to_integer(), Some(-7));
        assert_eq!(Value::from("2147483648").to_integer(), None);
        assert_eq!(Value::from("AQI=").to_binary().unwrap()[..], [1, 2]);
        assert_eq!(Value::from("a b").to_uri_reference(), None);
        assert_eq!(Value::from("a").to_uri(), None);
        assert!(Value::from("2026-01-01T00:00:00Z").to_timestamp().is_some());
    }

    #[test]
    fn controls_and_noncharacters_are_found() {
        for bad in ["\n", "\u{7f}", "\u{85}", "\u{fdd0}", "\u{fffe}", "\u{10ffff}"] {
            assert!(forbidden_character(&format!("é{bad}")).is_some(), "{bad:?}");
        }
        assert_eq!(forbidden_character("é\u{fffd} \u{1f600}~"), None);
    }
}
