//! Why a message is no event, in words that name the header.

use crate::event::{EventError, Excerpt, FormatError, TimestampError, UriError};

/// A message is no valid event in binary or structured mode (contract Q1, Q10).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeadersError {
    /// There is no header of an event and no content type, and the payload is no event either.
    #[error("the message has no header `ce-specversion`, and its payload is no event in the JSON format: {0}")]
    NoEvent(#[source] FormatError),

    /// A header that no event in binary mode can be without is absent.
    #[error("the message has no header `{header}`")]
    Missing {
        /// The header's name.
        header: &'static str,
    },

    /// A header stands twice, and there is no telling which one is meant.
    #[error("the message has two headers {header:?}")]
    Duplicate {
        /// The header's name, in lower case.
        header: Excerpt,
    },

    /// The event is of another version of `CloudEvents`.
    #[error("`ce-specversion` is {found:?}, and only \"1.0\" is read{hint}")]
    Version {
        /// The version that stands there.
        found: Excerpt,
        /// What to do about it, if that is known.
        hint: &'static str,
    },

    /// What a value percent-encodes is not UTF-8.
    #[error("the header {header:?} is {value:?}, which percent-encodes what is not UTF-8")]
    Encoding {
        /// The header's name, in lower case.
        header: Excerpt,
        /// The value as it stands there, shortened if it is long.
        value: Excerpt,
    },

    /// `ce-source` or `ce-dataschema` is not in the grammar of RFC 3986.
    #[error("`{header}`: {source}")]
    Uri {
        /// The header's name.
        header: &'static str,
        /// What is wrong with it.
        source: UriError,
    },

    /// `ce-time` is not in the grammar of RFC 3339.
    #[error("`ce-time`: {0}")]
    Time(#[source] TimestampError),

    /// All headers could be read, and together they are no valid event.
    #[error(transparent)]
    Event(#[from] EventError),

    /// The message is in structured mode, and its payload is no event.
    #[error("the payload under `Content-Type` {content_type:?}: {source}")]
    Structured {
        /// The content type, shortened if it is long.
        content_type: Excerpt,
        /// What is wrong with the payload.
        source: FormatError,
    },

    /// The message is a batch, and a message carries one event.
    #[error("the message is a batch, {content_type:?}: send one event with each message")]
    Batch {
        /// The content type, shortened if it is long.
        content_type: Excerpt,
    },

    /// The message is in structured mode, in another format than JSON.
    #[error("the message is {content_type:?}, and only `application/cloudevents+json` is read")]
    Format {
        /// The content type, shortened if it is long.
        content_type: Excerpt,
    },
}
