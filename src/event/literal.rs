//! Literals that the compiler checks, for the macros.

use super::value::is_forbidden;
use crate::text::char_at;

/// Refuses a literal that is no event type (contract Q1, Q4).
///
/// # Panics
/// If it is none: at compile time, when called for a constant.
#[doc(hidden)]
#[track_caller]
pub const fn check_event_type_literal(text: &'static str) {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        panic!("an event type is not empty (Q1): name the kind of event, as in `com.example.invoice.raised.v1`");
    }
    let mut at = 0;
    while at < bytes.len() {
        let (c, width) = char_at(bytes, at);
        if is_forbidden(c) {
            panic!("an event type has no control character (Q4): take it out");
        }
        at += width;
    }
}
