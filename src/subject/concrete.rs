//! The one subject that a message is sent to.

use super::{flaw::SubjectFlaw, grammar, parsed::parsed};

parsed! {
    /// What a message is sent to: tokens separated by dots, with no wildcard (S1, S2, S6).
    ///
    /// Cloning copies no text. Case matters. Write a literal as [`subject!`](crate::subject!), which the compiler
    /// checks; parse anything else with [`Subject::new`].
    Subject, SubjectError, SubjectFlaw, grammar::check_subject, "subject"
}

impl Subject {
    /// The text, if it is a literal of the program.
    #[cfg_attr(not(feature = "nats"), allow(dead_code, reason = "for a client that need not copy it then"))]
    pub(crate) const fn as_literal(&self) -> Option<&'static str> {
        self.0.as_literal()
    }

    /// The tokens between the dots, from the first to the last; there is at least one, and none is empty (S2).
    pub fn tokens(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.as_str().split('.')
    }
}
