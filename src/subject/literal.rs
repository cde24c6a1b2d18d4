//! Literals that the compiler parses: the macros, and the constant functions that they and `#[subscription]` call.
//!
//! Each function is `#[track_caller]` down to the panic, so that rustc reports the caller's line and shows nothing of
//! this crate. The macros bind the result to a constant *item*: an inline `const` block is not evaluated by
//! `cargo check`.

use super::{DurableName, Group, Name, Pattern, Subject, grammar};
use crate::text::Text;

/// Declares `make`, which gives the parsed value of a literal, and `check`, which only refuses a bad one.
macro_rules! literal {
    ($name:ident, $make:ident, $check:ident, $rule:path) => {
        #[doc = concat!("The [`", stringify!($name), "`] of a literal.")]
        ///
        /// # Panics
        /// If the literal breaks a rule: at compile time, when called for a constant.
        #[track_caller]
        #[must_use]
        pub const fn $make(text: &'static str) -> $name {
            match $rule(text) {
                Ok(()) => $name(Text::Static(text)),
                Err(flaw) => panic!("{}", flaw.rule()),
            }
        }

        #[doc = concat!("Refuses a literal that is no [`", stringify!($name), "`].")]
        ///
        /// # Panics
        /// If the literal breaks a rule: at compile time, when called for a constant.
        #[track_caller]
        pub const fn $check(text: &'static str) {
            if let Err(flaw) = $rule(text) {
                panic!("{}", flaw.rule());
            }
        }
    };
}

literal! { Subject, subject_literal, check_subject_literal, grammar::check_subject }
literal! { Pattern, pattern_literal, check_pattern_literal, grammar::check_pattern }
literal! { Name, name_literal, check_name_literal, grammar::check_name }
literal! { Group, group_literal, check_group_literal, grammar::check_group }
literal! { DurableName, durable_literal, check_durable_literal, grammar::check_durable_name }

/// The subject of a topic without places, and the pattern of any, whose literal is checked elsewhere: a bad one is one
/// error, and nothing that is made of it is another.
#[must_use]
pub const fn topic_subject_literal(text: &'static str) -> Subject {
    Subject(Text::Static(if grammar::check_subject(text).is_ok() { text } else { "-" }))
}

/// See [`topic_subject_literal`].
#[must_use]
pub const fn topic_pattern_literal(text: &'static str) -> Pattern {
    Pattern(Text::Static(if grammar::check_pattern(text).is_ok() { text } else { ">" }))
}

/// Refuses a subscription's pattern, or subject, that can never select the topic of its payload (C33). One that breaks a
/// rule is refused elsewhere.
///
/// # Panics
/// If the two do not overlap: at compile time, when called for a constant.
#[track_caller]
pub const fn check_selects_literal(pattern: &'static str, topic: Option<&Pattern>) {
    let Some(topic) = topic else { return };
    let Some(topic) = topic.0.as_literal() else { return };
    if grammar::check_pattern(pattern).is_err() || grammar::overlap(pattern, topic) {
        return;
    }
    let message =
        Message::new().and("`").and(pattern).and("` never selects the payload's topic (C33): write `pattern = \"");
    let message = message.and(topic).and("\"`, or take another payload");
    panic!("{}", message.as_str());
}

/// A text that is put together while the program is compiled.
struct Message {
    bytes: [u8; Self::LONGEST],
    length: usize,
}

impl Message {
    /// Two patterns of the greatest length, and what is said of them.
    const LONGEST: usize = 1024;

    const fn new() -> Self {
        Self { bytes: [0; Self::LONGEST], length: 0 }
    }

    const fn and(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.length] = text[at];
            (self.length, at) = (self.length + 1, at + 1);
        }
        self
    }

    const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the pattern never selects the payload's topic (C33)", // cannot be: texts were put together whole
        }
    }
}

/// A [`Subject`](crate::subject::Subject) from a literal that the compiler checks (C6); usable in constants.
///
/// ```
/// use tramline::subject;
///
/// const RAISED: tramline::subject::Subject = subject!("invoice.raised");
/// assert_eq!(RAISED, subject!("invoice.raised"));
/// ```
#[macro_export]
macro_rules! subject {
    ($text:literal) => {{
        const SUBJECT: $crate::__private::Subject = {
            let text: &str = $text;
            $crate::__private::subject_literal(text)
        };
        SUBJECT
    }};
    ($($other:tt)*) => {
        ::core::compile_error!("`subject!` takes one string literal: parse any other value with `Subject::new(..)`")
    };
}

/// A [`Pattern`](crate::subject::Pattern) from a literal that the compiler checks (C6); usable in constants.
///
/// ```
/// use tramline::{pattern, subject};
///
/// assert!(pattern!("invoice.>").matches(&subject!("invoice.raised.eu")));
/// ```
#[macro_export]
macro_rules! pattern {
    ($text:literal) => {{
        const PATTERN: $crate::__private::Pattern = {
            let text: &str = $text;
            $crate::__private::pattern_literal(text)
        };
        PATTERN
    }};
    ($($other:tt)*) => {
        ::core::compile_error!("`pattern!` takes one string literal: parse any other value with `Pattern::new(..)`")
    };
}

/// A [`Name`](crate::subject::Name) from a literal that the compiler checks (C5); usable in constants.
#[macro_export]
macro_rules! name {
    ($text:literal) => {{
        const NAME: $crate::__private::Name = {
            let text: &str = $text;
            $crate::__private::name_literal(text)
        };
        NAME
    }};
    ($($other:tt)*) => {
        ::core::compile_error!("`name!` takes one string literal: parse any other value with `Name::new(..)`")
    };
}

/// A [`Group`](crate::subject::Group) from a literal that the compiler checks (I1); usable in constants.
#[macro_export]
macro_rules! group {
    ($text:literal) => {{
        const GROUP: $crate::__private::Group = {
            let text: &str = $text;
            $crate::__private::group_literal(text)
        };
        GROUP
    }};
    ($($other:tt)*) => {
        ::core::compile_error!("`group!` takes one string literal: parse any other value with `Group::new(..)`")
    };
}

/// A [`DurableName`](crate::subject::DurableName) from a literal that the compiler checks (C20); usable in constants.
#[macro_export]
macro_rules! durable {
    ($text:literal) => {{
        const DURABLE: $crate::__private::DurableName = {
            let text: &str = $text;
            $crate::__private::durable_literal(text)
        };
        DURABLE
    }};
    ($($other:tt)*) => {
        ::core::compile_error!("`durable!` takes one string literal: parse any other value with `DurableName::new(..)`")
    };
}
