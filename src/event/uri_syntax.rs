//! The syntax of RFC 3986 as one check, which literals pass at compile time and values at run time.
//!
//! Every function is `const`, therefore the loops are spelled out and `?` is not used.

/// What a URI-reference turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It begins with a scheme.
    Absolute,
    /// It has no scheme.
    Relative,
}

type Rule = &'static str;

const SCHEME: Rule = "what stands before the first `:` must be a scheme: a letter, then letters, digits, `+`, `-` or `.` \
     (a relative path whose first segment has a `:` is written with `./` before it)";
const PERCENT: Rule = "a `%` must be followed by two hexadecimal digits; a `%` itself is written `%25`";
const ASCII: Rule = "a URI is ASCII: percent-encode every other character";
const SPACE: Rule = "a URI holds no white space and no control character: a space is written `%20`";
const CHARACTER: Rule = "a URI cannot hold this character here: percent-encode it";
const PORT: Rule = "a port is digits only";
const BRACKETS: Rule = "what stands in `[` and `]` must be an IPv6 address, and only a port may follow it";

/// Checks the grammar of `URI-reference` (RFC 3986, section 4.1). The empty reference is one.
pub(super) const fn check(text: &str) -> Result<Form, Rule> {
    let bytes = text.as_bytes();
    let end = bytes.len();
    let mut at = 0;
    let mut form = Form::Relative;

    let colon = find(bytes, 0, end, b":/?#");
    if colon < end && bytes[colon] == b':' {
        if !is_scheme(bytes, colon) {
            return Err(SCHEME);
        }
        form = Form::Absolute;
        at = colon + 1;
    }

    let fragment = find(bytes, at, end, b"#");
    let query = find(bytes, at, fragment, b"?");
    if at + 1 < query && bytes[at] == b'/' && bytes[at + 1] == b'/' {
        let path = find(bytes, at + 2, query, b"/");
        if let Err(rule) = authority(bytes, at + 2, path) {
            return Err(rule);
        }
        at = path;
    }

    if let Err(rule) = all(bytes, at, query, b":@/") {
        return Err(rule);
    }
    if let Err(rule) = all(bytes, query + 1, fragment, b":@/?") {
        return Err(rule);
    }
    if let Err(rule) = all(bytes, fragment + 1, end, b":@/?") {
        return Err(rule);
    }
    Ok(form)
}

const fn is_scheme(bytes: &[u8], end: usize) -> bool {
    if end == 0 || !bytes[0].is_ascii_alphabetic() {
        return false;
    }
    let mut at = 1;
    while at < end {
        if !bytes[at].is_ascii_alphanumeric() && !contains(b"+-.", bytes[at]) {
            return false;
        }
        at += 1;
    }
    true
}

const fn authority(bytes: &[u8], start: usize, end: usize) -> Result<(), Rule> {
    let mut host = start;
    let at_sign = find(bytes, start, end, b"@");
    if at_sign < end {
        if let Err(rule) = all(bytes, start, at_sign, b":") {
            return Err(rule);
        }
        host = at_sign + 1;
    }

    let host_end = if host < end && bytes[host] == b'[' {
        let close = find(bytes, host, end, b"]");
        if close == end || !is_ip_literal(bytes, host + 1, close) {
            return Err(BRACKETS);
        }
        if close + 1 < end && bytes[close + 1] != b':' {
            return Err(BRACKETS);
        }
        close + 1
    } else {
        let colon = find(bytes, host, end, b":");
        if let Err(rule) = all(bytes, host, colon, b"") {
            return Err(rule);
        }
        colon
    };

    let mut digit = host_end + 1;
    while digit < end {
        if !bytes[digit].is_ascii_digit() {
            return Err(PORT);
        }
        digit += 1;
    }
    Ok(())
}

const fn is_ip_literal(bytes: &[u8], start: usize, end: usize) -> bool {
    if start < end && contains(b"vV", bytes[start]) {
        let dot = find(bytes, start, end, b".");
        let mut at = start + 1;
        while at < dot {
            if !bytes[at].is_ascii_hexdigit() {
                return false;
            }
            at += 1;
        }
        if dot < start + 2 || dot + 1 >= end {
            return false;
        }
        at = dot + 1;
        while at < end {
            if !is_plain(bytes[at]) && bytes[at] != b':' {
                return false;
            }
            at += 1;
        }
        return true;
    }
    is_ipv6(bytes, start, end)
}

/// Counts the 16 bit groups: eight, or at most seven and one `::`. The last two may be written as an IPv4 address.
const fn is_ipv6(bytes: &[u8], start: usize, end: usize) -> bool {
    let mut at = start;
    let mut groups = 0;
    let mut gap = false;
    if start + 1 < end && bytes[start] == b':' && bytes[start + 1] == b':' {
        gap = true;
        at = start + 2;
    }
    while at < end {
        let stop = find(bytes, at, end, b":");
        if stop == end && find(bytes, at, end, b".") < end {
            if !is_ipv4(bytes, at, end) {
                return false;
            }
            groups += 2;
            at = end;
            continue;
        }
        if stop == at || stop - at > 4 {
            return false;
        }
        while at < stop {
            if !bytes[at].is_ascii_hexdigit() {
                return false;
            }
            at += 1;
        }
        groups += 1;
        if stop == end {
            continue;
        }
        if stop + 1 == end {
            return false;
        }
        at = stop + 1;
        if bytes[at] == b':' {
            if gap {
                return false;
            }
            gap = true;
            at += 1;
        }
    }
    if gap { groups <= 7 } else { groups == 8 }
}

const fn is_ipv4(bytes: &[u8], start: usize, end: usize) -> bool {
    let mut at = start;
    let mut parts = 0;
    while parts < 4 {
        let stop = find(bytes, at, end, b".");
        if stop == at || stop - at > 3 || (stop - at > 1 && bytes[at] == b'0') {
            return false;
        }
        let mut number: u16 = 0;
        while at < stop {
            if !bytes[at].is_ascii_digit() {
                return false;
            }
            number = number * 10 + (bytes[at] - b'0') as u16;
            at += 1;
        }
        if number > 255 {
            return false;
        }
        parts += 1;
        if stop == end {
            return parts == 4;
        }
        at = stop + 1;
    }
    false
}

/// Whether all bytes are unreserved, sub-delimiters, percent-encoded or in `also`.
const fn all(bytes: &[u8], start: usize, end: usize, also: &[u8]) -> Result<(), Rule> {
    let mut at = start;
    while at < end {
        let byte = bytes[at];
        if byte == b'%' {
            if at + 2 >= end || !bytes[at + 1].is_ascii_hexdigit() || !bytes[at + 2].is_ascii_hexdigit() {
                return Err(PERCENT);
            }
            at += 3;
            continue;
        }
        if !is_plain(byte) && !contains(also, byte) {
            return Err(match byte {
                0x80.. => ASCII,
                0..=b' ' | 0x7f => SPACE,
                _ => CHARACTER,
            });
        }
        at += 1;
    }
    Ok(())
}

/// Unreserved, or a sub-delimiter.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || contains(b"-._~!$&'()*+,;=", byte)
}

const fn contains(set: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < set.len() {
        if set[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

/// The place of the first byte that is in `set`, or `end`.
const fn find(bytes: &[u8], start: usize, end: usize, set: &[u8]) -> usize {
    let mut at = start;
    while at < end {
        if contains(set, bytes[at]) {
            return at;
        }
        at += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_grammar_has_passes() {
        for text in [
            "",
            "a",
            "/a/b",
            "./a:b",
            "a/b:c",
            "?q",
            "#f",
            "//host",
            "//host:80/p",
            "//u:p@host:/",
            "urn:example:billing",
            "https://example.com/a%20b?c=d&e=/?#f/?",
            "mailto:a@b.c",
            "tel:+1-816-555-1212",
            "http://[::1]:80/",
            "http://[::]/",
            "http://[2001:db8::7]/c=GB",
            "http://[1:2:3:4:5:6:7:8]",
            "http://[::ffff:192.0.2.1]",
            "http://[v1.fe:80]/",
            "http://[1::]",
            "a:",
            "x-y+z.1:",
            "HTTP://EXAMPLE/",
            "///",
            "a//b",
            "1-555",
            "urn:x:%C3%A9",
        ] {
            assert!(check(text).is_ok(), "{text}: {:?}", check(text));
        }
    }

    #[test]
    fn what_the_grammar_has_not_is_refused() {
        for (text, rule) in [
            (":a", SCHEME),
            ("1:a", SCHEME),
            ("a_b:c", SCHEME),
            ("%41:b", SCHEME),
            ("a%", PERCENT),
            ("a%2", PERCENT),
            ("a%2g", PERCENT),
            ("urn:é", ASCII),
            ("a b", SPACE),
            ("a\n", SPACE),
            ("\u{7f}", SPACE),
            ("a#b#c", CHARACTER),
            ("a[b]", CHARACTER),
            ("<a>", CHARACTER),
            ("a\\b", CHARACTER),
            ("a|b", CHARACTER),
            ("//h:8a", PORT),
            ("//a@b@c", CHARACTER),
            ("//[::1", BRACKETS),
            ("//[::1]x", BRACKETS),
            ("//[1:2]", BRACKETS),
            ("//[1::2::3]", BRACKETS),
            ("//[12345::]", BRACKETS),
            ("//[1:2:3:4:5:6:7:8:9]", BRACKETS),
            ("//[::256.0.0.1]", BRACKETS),
            ("//[:1]", BRACKETS),
            ("//[1:]", BRACKETS),
            ("//[]", BRACKETS),
            ("//[v.a]", BRACKETS),
            ("//[:::]", BRACKETS),
            ("//[::01.2.3.4]", BRACKETS),
            ("a%2?b", PERCENT),
        ] {
            assert_eq!(check(text), Err(rule), "{text}");
        }
    }

    #[test]
    fn a_scheme_makes_it_absolute() {
        assert_eq!(check("a:b"), Ok(Form::Absolute));
        assert_eq!(check("a/b"), Ok(Form::Relative));
    }
}
