//! Media types, compared the way that the bus compares them: without case and without parameters (contract Q5, P4).

/// The media type without its parameters and the white space around it: `text/plain` of `text/plain; charset=utf-8`.
pub fn essence(media_type: &str) -> &str {
    let end = media_type.find(';').unwrap_or(media_type.len());
    media_type[..end].trim_matches([' ', '\t'])
}

/// Whether two media types are the same but for case and parameters.
pub fn essence_eq(left: &str, right: &str) -> bool {
    essence(left).eq_ignore_ascii_case(essence(right))
}

/// Whether a media type declares JSON: its subtype is `json` or ends with `+json`, in any case, with any parameters.
pub fn is_json(media_type: &str) -> bool {
    // Nearly every event says it in these words.
    if media_type == "application/json" {
        return true;
    }
    let Some((_, subtype)) = essence(media_type).split_once('/') else {
        return false;
    };
    let suffix = subtype.rsplit_once('+').map_or(subtype, |(_, suffix)| suffix);
    suffix.eq_ignore_ascii_case("json")
}

/// Whether a media type declares text that is UTF-8: `text/*`, `application/xml` or `*+xml`, with no `charset` or one that UTF-8
/// includes. What declares JSON is not asked for.
pub(super) fn is_text(media_type: &str) -> bool {
    let Some((main, subtype)) = essence(media_type).split_once('/') else {
        return false;
    };
    let suffix = subtype.rsplit_once('+').map_or("", |(_, suffix)| suffix);
    let xml = essence_eq(media_type, "application/xml") || suffix.eq_ignore_ascii_case("xml");
    let utf_8 = |charset: &str| ["utf-8", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known));
    (xml || main.eq_ignore_ascii_case("text")) && parameter(media_type, "charset").is_none_or(utf_8)
}

/// The value of a parameter, without its quotes.
fn parameter<'m>(media_type: &'m str, name: &str) -> Option<&'m str> {
    let mut parts = Parts(&media_type[media_type.find(';')?..]);
    while parts.eat(';') {
        parts.white_space();
        let found = parts.taken(Parts::token);
        parts.eat('=');
        let value = parts.taken(|parts| parts.quoted() || parts.token());
        if found.eq_ignore_ascii_case(name) {
            return Some(value.trim_matches('"'));
        }
        parts.white_space();
    }
    None
}

/// Whether the text is in the grammar of RFC 2045, section 5.1, which RFC 2046 builds on.
pub(super) fn is_valid(text: &str) -> bool {
    let mut parts = Parts(text);
    if !(parts.token() && parts.eat('/') && parts.token()) {
        return false;
    }
    loop {
        parts.white_space();
        if parts.0.is_empty() {
            return true;
        }
        if !parts.eat(';') {
            return false;
        }
        parts.white_space();
        if !(parts.token() && parts.eat('=') && (parts.quoted() || parts.token())) {
            return false;
        }
    }
}

struct Parts<'a>(&'a str);

impl<'a> Parts<'a> {
    /// What a step goes over.
    fn taken(&mut self, step: impl FnOnce(&mut Self) -> bool) -> &'a str {
        let before = self.0;
        step(self);
        &before[..before.len() - self.0.len()]
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.0.strip_prefix(wanted).is_some_and(|rest| {
            self.0 = rest;
            true
        })
    }

    fn white_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn token(&mut self) -> bool {
        let rest = self.0.trim_start_matches(|c: char| c.is_ascii_graphic() && !r#"()<>@,;:\"/[]?="#.contains(c));
        let some = rest.len() < self.0.len();
        self.0 = rest;
        some
    }

    fn quoted(&mut self) -> bool {
        let Some(rest) = self.0.strip_prefix('"') else {
            return false;
        };
        let mut escaped = false;
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.0 = &rest[at + 1..];
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_recognised_by_its_subtype_alone() {
        for json in [
            "application/json",
            "APPLICATION/JSON",
            "text/json",
            "application/vnd.x.v1+json; charset=utf-8",
            "a/B+Json ;q=1",
        ] {
            assert!(is_json(json), "{json}");
        }
        for other in
            ["application/xml", "application/jsonl", "application/json+xml", "json", "", "application/x; a=+json"]
        {
            assert!(!is_json(other), "{other}");
        }
    }

    #[test]
    fn text_is_recognised_by_type_or_suffix_and_its_charset() {
        for text in [
            "text/plain",
            "TEXT/x",
            "application/xml",
            "image/svg+XML",
            "text/plain; charset=utf-8",
            "text/plain;a=\"b;charset=x\" ; Charset=\"UTF-8\"",
            "text/csv; header=present; charset=us-ascii",
        ] {
            assert!(is_text(text), "{text}");
        }
        for other in [
            "application/octet-stream",
            "text",
            "application/x-text",
            "text/plain; charset=iso-8859-1",
            "text/plain; a=b; charset=\"utf-16\"",
        ] {
            assert!(!is_text(other), "{other}");
        }
    }

    #[test]
    fn case_and_parameters_do_not_matter() {
        assert!(essence_eq("Text/Plain; charset=utf-8", "text/plain"));
        assert!(!essence_eq("text/plain", "text/html"));
    }

    #[test]
    fn a_media_type_has_a_type_and_a_subtype() {
        for good in [
            "a/b",
            "application/vnd.x+json",
            "text/plain; charset=utf-8",
            "text/plain;charset=\"a;\\\"b\"",
            "a/b ; c=d\t;e=f",
        ] {
            assert!(is_valid(good), "{good}");
        }
        for bad in
            ["", "a", "a/", "/b", "a/b/c", " a/b", "a/b;", "a/b; c", "a/b; c=", "a/b; c=\"d", "a b/c", "ä/b", "a/b c"]
        {
            assert!(!is_valid(bad), "{bad}");
        }
    }
}
