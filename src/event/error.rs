//! Why an event cannot be built, in words that name the attribute, the value and the fix.

use std::fmt;

/// What was given to the builder is no valid event (contract Q1, Q3, Q4, Q5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// An attribute that must not be empty is (contract Q1). Optional ones are left out instead.
    #[error("`{attribute}` is empty: {fix}")]
    Empty {
        /// The attribute's name.
        attribute: &'static str,
        /// What to do about it.
        fix: &'static str,
    },

    /// A string holds a character that the specification's String excludes: a control character or a Unicode noncharacter (contract Q4).
    #[error(
        "`{attribute}` is {value:?}, which holds {character:?}: a control character or noncharacter cannot stand in an attribute; remove or encode it"
    )]
    Character {
        /// The attribute's name.
        attribute: String,
        /// The attribute's value, shortened if it is long.
        value: Excerpt,
        /// The first character that cannot stay.
        character: char,
    },

    /// An extension has a name that no extension can have (contract Q3).
    #[error("no extension can be named {name:?}: {rule}")]
    ExtensionName {
        /// The name, shortened if it is long.
        name: Excerpt,
        /// The rule that it breaks.
        rule: &'static str,
    },

    /// `datacontenttype` is not a media type of RFC 2046 (contract Q4).
    #[error(
        "`datacontenttype` is {value:?}, which is no media type: write `type/subtype`, and each parameter as `; name=value`"
    )]
    ContentType {
        /// The value, shortened if it is long.
        value: Excerpt,
    },

    /// The data and `datacontenttype` do not go together, so that no format could give the same event back (contract Q5).
    #[error("the data is {kind} and `datacontenttype` is {content_type}: {fix}")]
    DataKind {
        /// What the data is.
        kind: &'static str,
        /// The media type, shortened if it is long, or `absent`.
        content_type: Excerpt,
        /// What to do about it.
        fix: &'static str,
    },
}

/// A value as far as an error message needs it: whole if it is short, else its beginning.
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt {
    text: Box<str>,
    whole: bool,
}

impl Excerpt {
    const LONGEST: usize = 80;

    pub(super) fn of(text: &str) -> Self {
        // `str::floor_char_boundary` is younger than the oldest compiler that the crate promises.
        let mut end = text.len().min(Self::LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self { text: text[..end].into(), whole: end == text.len() }
    }

    /// The text, or its beginning.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)?;
        f.write_str(if self.whole { "" } else { ".." })
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        f.write_str(if self.whole { "" } else { ".." })
    }
}

/// What to say about a `specversion` that is not read, or none if it is read (contract Q1).
pub(super) fn version_flaw(found: &str) -> Option<&'static str> {
    match found {
        "1.0" => None,
        "0.3" => Some(": version 0.3 is not supported, let the producer send 1.0"),
        _ => Some(""),
    }
}
