//! What a message is sent to, what selects it, and the names that subscriptions go by.
//!
//! Each type is parsed once and is valid from then on (contract, sections S, C5, C6, C20 and I1). A literal is
//! parsed by the compiler, so a bad one does not compile; a value from elsewhere goes through `new`.
//!
//! ```
//! use tramline::{pattern, subject, subject::Subject};
//!
//! let raised = subject!("invoice.raised");
//! assert!(pattern!("invoice.*").matches(&raised));
//! assert!(Subject::new("invoice..raised").is_err());
//! ```
//!
//! A bad literal is one error, at the literal:
//!
//! ```compile_fail,E0080
//! let raised = tramline::subject!("invoice..raised");
//! ```

mod concrete;
mod flaw;
mod grammar;
mod index;
pub(crate) mod literal;
mod names;
mod parsed;
mod pattern;
mod place;

#[doc(hidden)]
pub use self::place::{Piece, fill};
pub use self::{
    concrete::{Subject, SubjectError},
    flaw::{DurableNameFlaw, GroupFlaw, NameFlaw, PatternFlaw, PlaceFlaw, SubjectFlaw},
    index::PatternIndex,
    names::{DurableName, DurableNameError, Group, GroupError, Name, NameError},
    pattern::{Pattern, PatternError, Token},
    place::TopicError,
};
