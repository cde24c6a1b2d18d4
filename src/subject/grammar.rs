//! The rules themselves, each written once, for the compiler and for run time alike.
//!
//! Everything here is a `const fn` over bytes, which is why it is written with loops and indices.

use super::flaw::{DurableNameFlaw, GroupFlaw, NameFlaw, PatternFlaw, PlaceFlaw, SubjectFlaw};
use crate::text::char_at;

/// The most bytes that any text of this module may have (S6, I1).
pub(super) const LONGEST: usize = 255;

/// Holds a subject to S1, S2 and S6.
pub(super) const fn check_subject(text: &str) -> Result<(), SubjectFlaw> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(SubjectFlaw::Empty);
    }
    if bytes.len() > LONGEST {
        return Err(SubjectFlaw::TooLong);
    }
    if bytes[0] == b'$' {
        return Err(SubjectFlaw::Reserved);
    }
    let mut at = 0;
    loop {
        at = match read_token(bytes, at) {
            Ok((Kind::Word, end)) => end,
            Ok((Kind::One | Kind::Rest, _)) | Err(TokenFlaw::Mixed) => {
                return Err(SubjectFlaw::Wildcard);
            }
            Err(TokenFlaw::Empty) => return Err(SubjectFlaw::EmptyToken),
            Err(TokenFlaw::Whitespace) => return Err(SubjectFlaw::Whitespace),
            Err(TokenFlaw::Control) => return Err(SubjectFlaw::Control),
        };
        if at == bytes.len() {
            return Ok(());
        }
        at += 1;
    }
}

/// Holds a pattern to S3, S5 and S6.
pub(super) const fn check_pattern(text: &str) -> Result<(), PatternFlaw> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(PatternFlaw::Empty);
    }
    if bytes.len() > LONGEST {
        return Err(PatternFlaw::TooLong);
    }
    if bytes[0] == b'$' {
        return Err(PatternFlaw::Reserved);
    }
    let mut at = 0;
    loop {
        at = match read_token(bytes, at) {
            Ok((Kind::Rest, end)) if end < bytes.len() => return Err(PatternFlaw::TailNotLast),
            Ok((_, end)) => end,
            Err(TokenFlaw::Empty) => return Err(PatternFlaw::EmptyToken),
            Err(TokenFlaw::Mixed) => return Err(PatternFlaw::WildcardInToken),
            Err(TokenFlaw::Whitespace) => return Err(PatternFlaw::Whitespace),
            Err(TokenFlaw::Control) => return Err(PatternFlaw::Control),
        };
        if at == bytes.len() {
            return Ok(());
        }
        at += 1;
    }
}

/// Holds what fills one place of a subject to S1, S2 and S6. Only what opens the subject may not begin with a dollar sign.
pub(super) const fn check_place(text: &str, opens: bool) -> Result<(), PlaceFlaw> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(PlaceFlaw::Empty);
    }
    if opens && bytes[0] == b'$' {
        return Err(PlaceFlaw::Reserved);
    }
    match read_token(bytes, 0) {
        Ok((_, end)) if end < bytes.len() => Err(PlaceFlaw::Dot),
        Ok((Kind::Word, _)) => Ok(()),
        Ok((Kind::One | Kind::Rest, _)) | Err(TokenFlaw::Mixed) => Err(PlaceFlaw::Wildcard),
        Err(TokenFlaw::Empty) => Err(PlaceFlaw::Dot), // there is text, so it begins with one
        Err(TokenFlaw::Whitespace) => Err(PlaceFlaw::Whitespace),
        Err(TokenFlaw::Control) => Err(PlaceFlaw::Control),
    }
}

/// Holds a subscription's name to C5.
pub(super) const fn check_name(text: &str) -> Result<(), NameFlaw> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(NameFlaw::Empty);
    }
    if bytes.len() > LONGEST {
        return Err(NameFlaw::TooLong);
    }
    let mut at = 0;
    while at < bytes.len() {
        let (c, width) = char_at(bytes, at);
        if is_control(c) {
            return Err(NameFlaw::Control);
        }
        at += width;
    }
    Ok(())
}

/// Holds a durable name to I1.
pub(super) const fn check_durable_name(text: &str) -> Result<(), DurableNameFlaw> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(DurableNameFlaw::Empty);
    }
    if bytes.len() > LONGEST {
        return Err(DurableNameFlaw::TooLong);
    }
    let mut at = 0;
    while at < bytes.len() {
        let (c, width) = char_at(bytes, at);
        match c {
            '.' => return Err(DurableNameFlaw::Dot),
            '*' | '>' => return Err(DurableNameFlaw::Wildcard),
            '/' | '\\' => return Err(DurableNameFlaw::Slash),
            _ if c.is_whitespace() => return Err(DurableNameFlaw::Whitespace),
            _ if is_unprintable(c) => return Err(DurableNameFlaw::NonPrintable),
            _ => at += width,
        }
    }
    Ok(())
}

/// Holds a group to I1: under competing delivery it is the durable name (I3).
pub(super) const fn check_group(text: &str) -> Result<(), GroupFlaw> {
    match check_durable_name(text) {
        Ok(()) => Ok(()),
        Err(DurableNameFlaw::Empty) => Err(GroupFlaw::Empty),
        Err(DurableNameFlaw::Whitespace) => Err(GroupFlaw::Whitespace),
        Err(DurableNameFlaw::Dot) => Err(GroupFlaw::Dot),
        Err(DurableNameFlaw::Wildcard) => Err(GroupFlaw::Wildcard),
        Err(DurableNameFlaw::Slash) => Err(GroupFlaw::Slash),
        Err(DurableNameFlaw::NonPrintable) => Err(GroupFlaw::NonPrintable),
        Err(DurableNameFlaw::TooLong) => Err(GroupFlaw::TooLong),
    }
}

/// Whether a valid pattern selects a valid subject (S3, S8).
pub(super) const fn selects(pattern: &str, subject: &str) -> bool {
    let (pattern, subject) = (pattern.as_bytes(), subject.as_bytes());
    let (mut p, mut s) = (0, 0);
    loop {
        let (p_end, s_end) = (token_end(pattern, p), token_end(subject, s));
        match pattern[p] {
            b'>' => return true,
            b'*' => {}
            _ if same(pattern, p, p_end, subject, s, s_end) => {}
            _ => return false,
        }
        if p_end == pattern.len() || s_end == subject.len() {
            return p_end == pattern.len() && s_end == subject.len();
        }
        (p, s) = (p_end + 1, s_end + 1);
    }
}

/// Whether some subject is selected by both of two valid patterns (S9).
pub(super) const fn overlap(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let (mut l, mut r) = (0, 0);
    loop {
        let (l_end, r_end) = (token_end(left, l), token_end(right, r));
        match (left[l], right[r]) {
            (b'>', _) | (_, b'>') => return true,
            (b'*', _) | (_, b'*') => {}
            _ if same(left, l, l_end, right, r, r_end) => {}
            _ => return false,
        }
        if l_end == left.len() || r_end == right.len() {
            return l_end == left.len() && r_end == right.len();
        }
        (l, r) = (l_end + 1, r_end + 1);
    }
}

/// What one token of a subject or pattern is.
#[derive(Clone, Copy)]
enum Kind {
    Word,
    One,
    Rest,
}

/// What is wrong with one token.
enum TokenFlaw {
    Empty,
    Whitespace,
    Control,
    /// A wildcard beside another character.
    Mixed,
}

/// Reads the token that begins at `start`, and says where it ends: at a dot, or at the end of the text.
const fn read_token(bytes: &[u8], start: usize) -> Result<(Kind, usize), TokenFlaw> {
    let mut at = start;
    let mut wildcard = None;
    while at < bytes.len() && bytes[at] != b'.' {
        let (c, width) = char_at(bytes, at);
        match c {
            '*' => wildcard = Some(Kind::One),
            '>' => wildcard = Some(Kind::Rest),
            _ if c.is_whitespace() => return Err(TokenFlaw::Whitespace),
            _ if is_control(c) => return Err(TokenFlaw::Control),
            _ => {}
        }
        at += width;
    }
    match wildcard {
        _ if at == start => Err(TokenFlaw::Empty),
        None => Ok((Kind::Word, at)),
        Some(kind) if at == start + 1 => Ok((kind, at)),
        Some(_) => Err(TokenFlaw::Mixed),
    }
}

/// Where the token that begins at `start` ends.
const fn token_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() && bytes[at] != b'.' {
        at += 1;
    }
    at
}

/// Whether two stretches of bytes are equal.
const fn same(left: &[u8], mut l: usize, l_end: usize, right: &[u8], mut r: usize, r_end: usize) -> bool {
    if l_end - l != r_end - r {
        return false;
    }
    while l < l_end {
        if left[l] != right[r] {
            return false;
        }
        (l, r) = (l + 1, r + 1);
    }
    true
}

/// Unicode's category of control characters; `char::is_control` is no `const fn` yet.
const fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}')
}

/// Control, format and private-use characters and non-characters: what a terminal does not show.
/// Code points that Unicode has not assigned yet are let through.
const fn is_unprintable(c: char) -> bool {
    is_control(c)
        || matches!(
            c,
            '\u{ad}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e007f}'
                | '\u{f0000}'..='\u{10ffff}'
        )
        || (c as u32) & 0xfffe == 0xfffe
}
