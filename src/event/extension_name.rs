//! What an extension attribute may be called (contract Q3).

use super::error::{EventError, Excerpt};

/// The names that an event's own members have. `data_base64` is refused already for its underscore.
const TAKEN: [&str; 9] =
    ["id", "source", "type", "specversion", "subject", "time", "datacontenttype", "dataschema", "data"];

/// Whether an extension may have this name.
pub(crate) fn check(name: &str) -> Result<(), EventError> {
    match flaw(name) {
        None => Ok(()),
        Some(flaw) => Err(EventError::ExtensionName { name: Excerpt::of(name), rule: flaw.rule() }),
    }
}

/// The refusal of a name that only the bus's own events carry (contract R7).
pub(crate) fn reserved(name: &str) -> EventError {
    EventError::ExtensionName { name: Excerpt::of(name), rule: "only a failure reply carries it: take another name" }
}

/// What is wrong with a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    Empty,
    Character,
    Taken,
}

impl Flaw {
    const fn rule(self) -> &'static str {
        match self {
            Self::Empty => "it must not be empty",
            Self::Character => "it may hold only `a` to `z` and `0` to `9`",
            Self::Taken => "it belongs to the event itself: set it with its own method, or take another name",
        }
    }
}

/// The rule that `name` breaks, if it breaks one. Constant, for literals that the compiler checks.
pub(crate) const fn flaw(name: &str) -> Option<Flaw> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Some(Flaw::Empty);
    }
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_lowercase() && !bytes[at].is_ascii_digit() {
            return Some(Flaw::Character);
        }
        at += 1;
    }
    let mut other = 0;
    while other < TAKEN.len() {
        if equal(bytes, TAKEN[other].as_bytes()) {
            return Some(Flaw::Taken);
        }
        other += 1;
    }
    None
}

/// Byte for byte; constant.
pub(crate) const fn equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}
