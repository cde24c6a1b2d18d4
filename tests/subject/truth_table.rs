//! S8: what matches what, as the contract prints it.

use tramline::subject::{Pattern, Subject};

/// Every row of the contract's table.
const TABLE: [(&str, &str, bool); 28] = [
    ("a", "a", true),
    ("a", "b", false),
    ("a.b", "a.b", true),
    ("a.b", "a", false),
    ("a", "a.b", false),
    ("a.*", "a.b", true),
    ("a.*", "a", false),
    ("a.*", "a.b.c", false),
    ("*", "a", true),
    ("*", "a.b", false),
    ("*.b", "a.b", true),
    ("*.*", "a.b", true),
    ("*.*", "a", false),
    ("a.>", "a..c", false),
    ("a.>", "a.b", true),
    ("a.>", "a.b.c", true),
    ("a.>", "a", false),
    (">", "a", true),
    (">", "a.b.c", true),
    ("*.>", "a.b", true),
    ("*.>", "a", false),
    ("a.*.>", "a.b.c", true),
    ("a.*.>", "a.b", false),
    ("A", "a", false),
    ("a.*.c", "a.b.c", true),
    ("a.*.c", "a.c", false),
    ("a.*.c", "a..c", false),
    (">", "a..c", false),
];

#[test]
fn s8_the_truth_table_holds() {
    for (pattern, text, expected) in TABLE {
        let parsed = Pattern::new(pattern).expect("the table's patterns are valid");
        assert_eq!(parsed.matches_str(text), expected, "`{pattern}` against `{text}`");
        match Subject::new(text) {
            Ok(subject) => assert_eq!(parsed.matches(&subject), expected, "`{pattern}` against `{text}`"),
            Err(_) => assert!(!expected, "`{text}` is no subject, so nothing matches it (S7)"),
        }
    }
}
