//! What kind of event it is, in words.

use std::sync::Arc;

/// Apart from [`Text`](crate::text::Text), of which subjects are made: two ways to keep a text are told apart for less
/// than three, and a publish does it several times.
#[derive(Debug, Clone)]
pub(super) enum EventType {
    Static(&'static str),
    /// With other events that were read.
    Shared(Arc<str>),
    /// As it was given. A clone copies it: an event is seldom changed once it is shared.
    Given(String),
}

impl EventType {
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Static(text) => text,
            Self::Shared(text) => text,
            Self::Given(text) => text,
        }
    }
}

impl AsRef<str> for EventType {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for EventType {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}
