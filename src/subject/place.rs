//! Fills the places of a topic's subject with the fields of a value, each field with exactly one token.

use std::fmt::{Display, Write};

use super::{Subject, flaw::PlaceFlaw, grammar, parsed::Quoted};

/// A value of a topic that has no subject, because what a field writes is no token (S1, S2, S6). It names the topic's
/// type, the field and the value, which is cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this `{topic}` has no subject: its field `{field}` is {value}, and {flaw}", value = Quoted(.value))]
pub struct TopicError {
    topic: &'static str,
    field: &'static str,
    value: Box<str>,
    flaw: PlaceFlaw,
}

impl TopicError {
    /// For a topic that is implemented by hand: the type, the field, what it writes, and what is wrong with that.
    pub fn new(topic: &'static str, field: &'static str, value: impl Into<Box<str>>, flaw: PlaceFlaw) -> Self {
        Self { topic, field, value: value.into(), flaw }
    }

    /// The name of the topic's type.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        self.topic
    }

    /// The field whose value is refused; that of a tuple struct by its number. Where the subject as a whole is too long,
    /// the field that has the longest part in it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// What the field writes.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What is wrong with it.
    #[must_use]
    pub fn flaw(&self) -> PlaceFlaw {
        self.flaw
    }
}

/// A part of a topic's subject, from one dot or the beginning to another or the end.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Piece<'a> {
    /// As it stands in the literal, with the dots beside it. The compiler has checked it.
    Words(&'static str),
    /// A place: the field's name, and its value.
    Field(&'static str, &'a dyn Display),
}

/// The subject of a value of this topic.
///
/// # Errors
/// What fills a place is no token, or the whole is too long.
#[doc(hidden)]
pub fn fill(topic: &'static str, pieces: &[Piece<'_>]) -> Result<Subject, TopicError> {
    let mut text = String::with_capacity(64);
    let mut longest = ("", 0..0);
    for (index, piece) in pieces.iter().enumerate() {
        match *piece {
            Piece::Words(words) => text.push_str(words),
            Piece::Field(field, value) => {
                let begin = text.len();
                let written = write!(text, "{value}").map_err(|_| PlaceFlaw::Unwritten);
                let flaw = written.and_then(|()| grammar::check_place(&text[begin..], index == 0)).err();
                if let Some(flaw) = flaw {
                    return Err(TopicError::new(topic, field, &text[begin..], flaw));
                }
                if longest.1.len() < text.len() - begin {
                    longest = (field, begin..text.len());
                }
            }
        }
    }
    if text.len() > grammar::LONGEST {
        let (field, place) = longest;
        return Err(TopicError::new(topic, field, &text[place], PlaceFlaw::TooLong));
    }
    Ok(Subject(text.into()))
}
