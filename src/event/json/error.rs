//! Why a document is no event, in words that name the member.

use std::error::Error;

use crate::event::{EventError, Excerpt, TimestampError, UriError};

/// A document is no valid event, or no valid batch, in the JSON format (contract Q6).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The document is no JSON, is cut off, or is something else than an event or a batch.
    #[error("the document cannot be read: {0}")]
    Document(#[source] serde_json::Error),

    /// A member that no event can be without is absent or null.
    #[error("the event has no `{member}`")]
    Missing {
        /// The member's name.
        member: &'static str,
    },

    /// A member stands twice, and there is no telling which one is meant.
    #[error("the event has two members {member:?}")]
    Duplicate {
        /// The member's name.
        member: Excerpt,
    },

    /// The event is of another version of `CloudEvents`.
    #[error("`specversion` is {found:?}, and only \"1.0\" is read{hint}")]
    Version {
        /// The version that stands there.
        found: Excerpt,
        /// What to do about it, if that is known.
        hint: &'static str,
    },

    /// A member has a value of a type that it cannot have.
    #[error("`{member}` is {found}, and must be {wanted}")]
    Type {
        /// The member's name.
        member: Excerpt,
        /// What it is.
        found: &'static str,
        /// What it must be.
        wanted: &'static str,
    },

    /// The string of a member is none: it holds half of a surrogate pair, or a broken escape.
    #[error("`{member}` is no valid string: {source}")]
    Text {
        /// The member's name.
        member: Excerpt,
        /// What is wrong with it.
        source: serde_json::Error,
    },

    /// `source` or `dataschema` is not in the grammar of RFC 3986.
    #[error("`{member}`: {source}")]
    Uri {
        /// The member's name.
        member: &'static str,
        /// What is wrong with it.
        source: UriError,
    },

    /// `time` is not in the grammar of RFC 3339.
    #[error("`time`: {0}")]
    Time(#[source] TimestampError),

    /// `data_base64` is not base64 with padding (RFC 4648, section 4).
    #[error("`data_base64` is no base64: {0}")]
    Base64(#[source] Box<dyn Error + Send + Sync>),

    /// `data` and `data_base64` are both there.
    #[error("the event has `data` and `data_base64`: an event has one of them, or none")]
    TwoData,

    /// All members could be read, and together they are no valid event.
    #[error(transparent)]
    Event(#[from] EventError),

    /// One event of a batch cannot be read.
    #[error("event {index} of the batch: {source}")]
    InBatch {
        /// Its position, counted from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<FormatError>,
    },
}
