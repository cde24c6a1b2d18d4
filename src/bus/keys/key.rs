//! What tells one key from another, without copying any text.

use std::{
    fmt::{self, Write},
    hash::{Hash, Hasher},
};

use crate::{
    event::{Event, Value},
    subject::Subject,
    subscription::KeyedBy,
    text::Text,
};

/// The key of a message.
#[derive(Clone)]
pub(super) enum Key {
    Subject(Subject),
    /// The value of this attribute of this event; two are only compared under one name.
    Attribute(Event, Text),
}

impl Key {
    /// The key of this message; none where it has no such attribute, and is its own key.
    pub(super) fn of(by: &KeyedBy, subject: &Subject, event: &Event) -> Option<Self> {
        match by.name() {
            None => Some(Self::Subject(subject.clone())),
            Some(name) => event.extension(name.as_str()).map(|_| Self::Attribute(event.clone(), name.clone())),
        }
    }

    fn value(&self) -> Option<&Value> {
        match self {
            Self::Subject(_) => None,
            Self::Attribute(event, name) => event.extension(name.as_str()),
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Subject(own), Self::Subject(other)) => own == other,
            _ => self.value() == other.value(),
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Subject(subject) => subject.hash(state),
            Self::Attribute(..) => {
                // Values of several kinds are equal when their texts are, however those are written.
                if let Some(value) = self.value() {
                    let _ = write!(ByByte(state), "{value}");
                }
            }
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.value()) {
            (Self::Subject(subject), _) => subject.fmt(f),
            (Self::Attribute(..), Some(value)) => value.fmt(f),
            (Self::Attribute(..), None) => Ok(()),
        }
    }
}

/// Hashes text byte by byte, so that it does not matter in which pieces it comes.
struct ByByte<'h, H>(&'h mut H);

impl<H: Hasher> Write for ByByte<'_, H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.0.write_u8(byte));
        Ok(())
    }
}
