//! What a subscription selects subjects with.

use super::{Subject, flaw::PatternFlaw, grammar, parsed::parsed};

parsed! {
    /// What selects subjects: tokens separated by dots, where `*` is exactly one token and `>`, only as the last, is
    /// one or more (S3, S5, S6).
    ///
    /// Cloning copies no text. Write a literal as [`pattern!`](crate::pattern!), which the compiler checks; parse
    /// anything else with [`Pattern::new`]. There is no invalid pattern, so none that matches nothing (S7).
    Pattern, PatternError, PatternFlaw, grammar::check_pattern, "pattern"
}

impl Pattern {
    /// Whether a message to this subject is selected (S8).
    #[must_use]
    pub fn matches(&self, subject: &Subject) -> bool {
        grammar::selects(self.as_str(), subject.as_str())
    }

    /// Whether a message to this text is selected; a text that is no subject is selected by nothing (S7).
    #[must_use]
    pub fn matches_str(&self, text: &str) -> bool {
        grammar::check_subject(text).is_ok() && grammar::selects(self.as_str(), text)
    }

    /// Whether some subject is selected by both (S9).
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        grammar::overlap(self.as_str(), other.as_str())
    }

    /// Whether there is no wildcard in it, so that it selects exactly one subject.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        !self.as_str().contains(['*', '>'])
    }

    /// The one subject that it selects, if it has no wildcard. Copies no text.
    #[must_use]
    pub fn as_subject(&self) -> Option<Subject> {
        self.is_literal().then(|| Subject(self.0.clone()))
    }

    /// The tokens between the dots, from the first to the last, for backends whose broker spells wildcards its own way.
    pub fn tokens(&self) -> impl DoubleEndedIterator<Item = Token<'_>> {
        self.as_str().split('.').map(|token| match token {
            "*" => Token::One,
            ">" => Token::Rest,
            word => Token::Word(word),
        })
    }
}

impl From<Subject> for Pattern {
    /// The pattern that selects this subject only.
    fn from(subject: Subject) -> Self {
        Self(subject.0)
    }
}

impl From<&Subject> for Pattern {
    /// The pattern that selects this subject only. Copies no text.
    fn from(subject: &Subject) -> Self {
        Self(subject.0.clone())
    }
}

/// One token of a [`Pattern`] (S3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Token<'a> {
    /// Exactly this token.
    Word(&'a str),
    /// `*`: any one token.
    One,
    /// `>`: any one or more tokens; always the last.
    Rest,
}
