//! URIs and URI-references that are checked and then kept byte for byte.

use std::{fmt, str::FromStr};

use super::{
    error::Excerpt,
    uri_syntax::{self, Form},
};
use crate::text::Text;

/// A URI-reference (RFC 3986, section 4.1): a URI, or a reference relative to one. The type of `source`.
///
/// Its text is kept as it was given: nothing is normalised, and two are equal when their texts are (contract Q2).
/// A clone never copies the text. A literal is best written with [`source!`](crate::source), which the compiler checks.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UriReference(Text);

/// A URI with a scheme, as `dataschema` needs it (contract Q4).
///
/// The specification names RFC 3986, section 4.3, which has no fragment; its JSON schema has `format: uri`, which does.
/// Both are accepted, because schemas are commonly named with a fragment. The text is kept as it was given (contract Q2).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uri(Text);

/// A text is no URI, or no URI-reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {wanted}: {rule}")]
pub struct UriError {
    text: Excerpt,
    wanted: &'static str,
    rule: &'static str,
}

const NO_SCHEME: &str = "it must begin with a scheme, as in `https://example.com/schema`";
const NO_SOURCE: &str = "a source must not be empty: name the service, as in `urn:example:billing`";

impl UriReference {
    /// In the grammar, and the source of no event.
    pub(super) const fn empty() -> Self {
        Self(Text::Static(""))
    }

    /// Checks the text and keeps it.
    ///
    /// # Errors
    /// The text is not in the grammar of RFC 3986. The empty text is in it, but no event can have it as its source.
    pub fn new(text: impl AsRef<str>) -> Result<Self, UriError> {
        let text = text.as_ref();
        match uri_syntax::check(text) {
            Ok(_) => Ok(Self(text.into())),
            Err(rule) => Err(UriError::new(text, "URI-reference", rule)),
        }
    }

    /// The text, as it was given.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// What [`source!`](crate::source) runs at compile time.
#[doc(hidden)]
#[track_caller]
pub const fn source_literal(text: &'static str) -> UriReference {
    if text.is_empty() {
        panic!("{}", NO_SOURCE);
    }
    match uri_syntax::check(text) {
        Ok(_) => UriReference(Text::Static(text)),
        Err(rule) => panic!("{}", rule),
    }
}

/// The schema of a topic whose literal is checked elsewhere: a bad one is one error, and then there is none.
#[doc(hidden)]
pub const fn topic_schema_literal(text: &'static str) -> Option<Uri> {
    match uri_syntax::check(text) {
        Ok(Form::Absolute) => Some(Uri(Text::Static(text))),
        Ok(Form::Relative) | Err(_) => None,
    }
}

/// What [`uri!`](crate::uri) runs at compile time.
#[doc(hidden)]
#[track_caller]
pub const fn uri_literal(text: &'static str) -> Uri {
    match uri_syntax::check(text) {
        Ok(Form::Absolute) => Uri(Text::Static(text)),
        Ok(Form::Relative) => panic!("a URI begins with a scheme: write it as in `https://example.com/schema`"),
        Err(rule) => panic!("{}", rule),
    }
}

impl Uri {
    /// Checks the text and keeps it.
    ///
    /// # Errors
    /// The text is not in the grammar of RFC 3986, or has no scheme.
    pub fn new(text: impl AsRef<str>) -> Result<Self, UriError> {
        let text = text.as_ref();
        match uri_syntax::check(text) {
            Ok(Form::Absolute) => Ok(Self(text.into())),
            Ok(Form::Relative) => Err(UriError::new(text, "URI", NO_SCHEME)),
            Err(rule) => Err(UriError::new(text, "URI", rule)),
        }
    }

    /// The text, as it was given.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl UriError {
    fn new(text: &str, wanted: &'static str, rule: &'static str) -> Self {
        Self { text: Excerpt::of(text), wanted, rule }
    }
}

impl From<Uri> for UriReference {
    fn from(uri: Uri) -> Self {
        Self(uri.0)
    }
}

macro_rules! text_type {
    ($type:ident) => {
        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UriError;

            fn from_str(text: &str) -> Result<Self, UriError> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $type {
            type Error = UriError;

            fn try_from(text: &str) -> Result<Self, UriError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = UriError;

            fn try_from(text: String) -> Result<Self, UriError> {
                Self::new(text)
            }
        }
    };
}

text_type!(UriReference);
text_type!(Uri);

/// A [`UriReference`](crate::event::UriReference) from a literal, checked when the program is compiled: `source!("urn:example:billing")`.
///
/// A literal that is no URI-reference, or is empty, does not compile. Nothing is allocated.
///
/// ```compile_fail,E0080
/// let _ = tramline::source!("billing service");
/// ```
#[macro_export]
macro_rules! source {
    ($text:literal) => {{
        const SOURCE: $crate::event::UriReference = $crate::__private::source_literal($text);
        SOURCE
    }};
}

/// A [`Uri`](crate::event::Uri) from a literal, checked when the program is compiled, as for a `dataschema`:
/// `uri!("https://example.com/schemas/order.json")`.
///
/// A literal that is no URI, or has no scheme, does not compile. Nothing is allocated.
///
/// ```compile_fail,E0080
/// let _ = tramline::uri!("schemas/order.json");
/// ```
#[macro_export]
macro_rules! uri {
    ($text:literal) => {{
        const URI: $crate::event::Uri = $crate::__private::uri_literal($text);
        URI
    }};
}
