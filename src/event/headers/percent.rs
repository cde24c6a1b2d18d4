//! The percent-encoding of header values, as the binding has it (section 3.1.3.2).

use std::borrow::Cow;

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Whether a byte may stand in a value as it is. No byte beyond ASCII may, so that characters need not be looked at.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~') && byte != b'"' && byte != b'%'
}

/// Whether every byte is plain. Then the value and the text that it stands for are the same, and no character of it is one
/// that an attribute must not have.
#[inline]
pub(super) fn is_all_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (eights, rest) = bytes.as_chunks::<8>();
    let others = eights.iter().fold(0, |others, eight| others | others_of(*eight));
    // The last eight, some of them once more, are looked at more quickly than what is left over.
    let rest = match bytes.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        Some(last) => others_of(*last),
        None => u64::from(!rest.iter().all(|byte| is_plain(*byte))),
    };
    (others | rest) == 0
}

/// Not zero if one of eight bytes is not plain. All eight are looked at as one number: the highest bit of each tells.
#[inline]
fn others_of(eight: [u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let bytes = u64::from_ne_bytes(eight);
    let none_is = |byte: u8| {
        let others = bytes ^ (ONES * u64::from(byte));
        others.wrapping_sub(ONES) & !others
    };
    let below = bytes.wrapping_sub(ONES * u64::from(b'!')) & !bytes;
    // What carries into the next byte, or borrows from it, is itself not plain.
    let beyond = bytes | bytes.wrapping_add(ONES);
    (below | beyond | none_is(b'"') | none_is(b'%')) & (ONES * 0x80)
}

/// The value that stands for a text; the text itself, where nothing of it needs encoding.
pub(super) fn encode(text: Cow<'_, str>) -> Cow<'_, str> {
    if is_all_plain(&text) {
        return text;
    }
    let others = text.bytes().filter(|byte| !is_plain(*byte)).count();
    let mut value = String::with_capacity(text.len() + 2 * others);
    for byte in text.bytes() {
        if is_plain(byte) {
            value.push(byte.into());
        } else {
            value.push('%');
            value.push(DIGITS[usize::from(byte >> 4)].into());
            value.push(DIGITS[usize::from(byte & 15)].into());
        }
    }
    Cow::Owned(value)
}

/// The text that a value stands for, or none where that is not UTF-8.
pub(super) fn decode(value: &str) -> Option<Cow<'_, str>> {
    let unquoted = unquote(value);
    if !unquoted.contains('%') {
        return Some(unquoted);
    }
    let mut text = Vec::with_capacity(unquoted.len());
    let mut rest = unquoted.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    text.push(high << 4 | low);
                    rest = after;
                }
                // Who writes a bare percent sign does not encode.
                _ => text.push(b'%'),
            },
            _ => text.push(*byte),
        }
    }
    String::from_utf8(text).ok().map(Cow::Owned)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// What is in a quoted string (RFC 7230, section 3.2.6). What is not one from end to end stays as it is: a quote in the middle is
/// one that was not encoded.
fn unquote(value: &str) -> Cow<'_, str> {
    let Some(quoted) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Cow::Borrowed(value);
    };
    if !quoted.contains(['"', '\\']) {
        return Cow::Borrowed(quoted);
    }
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Cow::Borrowed(value),
            '\\' => match characters.next() {
                Some(escaped) => text.push(escaped),
                None => return Cow::Borrowed(value),
            },
            plain => text.push(plain),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_the_binding_names_is_encoded_and_nothing_else() {
        for (text, value) in [
            ("", ""),
            ("plain!~/:;=<>", "plain!~/:;=<>"),
            ("Euro \u{20ac} \u{1f600}", "Euro%20%E2%82%AC%20%F0%9F%98%80"),
            ("100% \"it\"\\", "100%25%20%22it%22\\"),
            ("\u{7f}\t", "%7F%09"),
        ] {
            assert_eq!(encode(text.into()), value, "{text}");
            assert_eq!(decode(value).unwrap(), text, "{value}");
        }
        assert!(matches!(encode("plain".into()), Cow::Borrowed(_)), "no allocation for what needs none");
    }

    #[test]
    fn eight_bytes_at_once_are_as_plain_as_each_of_them() {
        for byte in 0..=u8::MAX {
            for (at, other) in (0..8).flat_map(|at| [b'a', b'!', b'~', 0, 0x80, 0xff].map(|other| (at, other))) {
                let mut eight = [other; 8];
                eight[at] = byte;
                assert_eq!(others_of(eight) == 0, eight.iter().all(|byte| is_plain(*byte)), "{eight:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_text_is_plain_when_each_byte_is(text in "[!-~]{0,20}[ -~\u{7f}\u{e9}]{0,2}[!-~]{0,20}") {
            assert_eq!(is_all_plain(&text), text.bytes().all(is_plain), "{text:?}");
        }
    }

    #[test]
    fn lower_case_and_what_need_not_be_encoded_are_decoded_once() {
        assert_eq!(decode("%e2%82%ac%41%2541").unwrap(), "\u{20ac}A%41");
    }

    #[test]
    fn what_is_no_utf_8_is_refused() {
        for value in ["%C0%A0", "%ff", "a%E2%82", "%ED%A0%80"] {
            assert_eq!(decode(value), None, "{value}");
        }
    }

    #[test]
    fn a_percent_sign_that_begins_no_encoding_stays() {
        for value in ["%", "100%", "%z", "%zz", "%1", "%%", "5% off", "%\u{e9}\u{e9}"] {
            assert_eq!(decode(value).unwrap(), value);
        }
        assert_eq!(decode("%%41").unwrap(), "%A");
    }

    #[test]
    fn a_quoted_string_is_taken_out_of_its_quotes_and_a_stray_quote_stays() {
        for (value, text) in [
            (r#""a b""#, "a b"),
            (r#""a \"b\" \\ \c""#, r#"a "b" \ c"#),
            (r#""""#, ""),
            (r#""%41\%41""#, "AA"),
            (r#"""#, r#"""#),
            (r#""a"b"c""#, r#""a"b"c""#),
            (r#""a\""#, r#""a\""#),
            (r#"text/plain; charset="utf-8""#, r#"text/plain; charset="utf-8""#),
        ] {
            assert_eq!(decode(value).unwrap(), text, "{value}");
        }
    }
}
