//! What one key is made of, where messages of one key are handled strictly in order.

use std::fmt;

use crate::{
    contract::FAILURE_ATTRIBUTE,
    event::{
        EventError,
        extension_name::{self, Flaw},
    },
    text::Text,
};

/// What tells the keys of a keyed subscription apart (contract G2): the subject, or an extension attribute.
///
/// Messages of one key are handled strictly in order, over declines and their delays too; messages of different keys
/// side by side. An event without the attribute is its own key.
///
/// What is taken while its key is at work waits for it in hand, and counts against the bound. At most once half of the
/// bound is kept for that, and the backend's queue has the other half; with a bound of 1 the one that waits is in the
/// hand of the reader that took it. At least once the backend itself counts what is in hand.
///
/// Order holds within one process and one activation. A declined message that does not come back within its delay and
/// half a minute more is not waited for any longer, since another process under the same durable name may have got it:
/// its key goes on, and that is logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedBy(By);

#[derive(Debug, Clone, PartialEq, Eq)]
enum By {
    Subject,
    Attribute(Text),
}

impl KeyedBy {
    /// Each concrete subject is a key.
    pub const fn subject() -> Self {
        Self(By::Subject)
    }

    /// Each value of this extension attribute is a key.
    ///
    /// # Errors
    /// No extension can have this name (contract Q3), or only a failure reply carries it (R7).
    pub fn attribute(name: &str) -> Result<Self, EventError> {
        extension_name::check(name)?;
        if name == FAILURE_ATTRIBUTE {
            return Err(extension_name::reserved(name));
        }
        Ok(Self(By::Attribute(name.into())))
    }

    /// The attribute's name; none where the key is the subject.
    pub(crate) const fn name(&self) -> Option<&Text> {
        match &self.0 {
            By::Subject => None,
            By::Attribute(name) => Some(name),
        }
    }
}

/// As written in the attribute.
impl fmt::Display for KeyedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            By::Subject => f.write_str("subject"),
            By::Attribute(name) => write!(f, "{:?}", name.as_str()),
        }
    }
}

/// The [`KeyedBy`] of a literal.
///
/// # Panics
/// If no extension can have this name, or only a failure reply carries it: at compile time, when called for a constant.
#[doc(hidden)]
#[track_caller]
#[must_use]
pub const fn keyed_by_literal(name: &'static str) -> KeyedBy {
    assert!(
        !extension_name::equal(name.as_bytes(), FAILURE_ATTRIBUTE.as_bytes()),
        "a key is set by who publishes, and this attribute is reserved for failure replies (R7): take another name"
    );
    match extension_name::flaw(name) {
        None => KeyedBy(By::Attribute(Text::Static(name))),
        Some(Flaw::Empty) => panic!("a key is not empty (Q3): name the extension attribute that holds it"),
        Some(Flaw::Character) => {
            panic!(
                "a key is an extension attribute, named with `a` to `z` and `0` to `9` (Q3): write its name as it is"
            )
        }
        Some(Flaw::Taken) => {
            panic!(
                "a key is an extension attribute (G2): this one is the event's own, take another or `keyed = subject`"
            )
        }
    }
}
