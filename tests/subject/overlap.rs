//! S9: overlap is what brute force says it is.

use tramline::subject::{Pattern, Subject};

/// Every text of one to `most` tokens from `tokens`.
fn texts(tokens: &[&str], most: usize) -> Vec<String> {
    let mut all: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    let mut longest = all.clone();
    for _ in 1..most {
        longest = longest.iter().flat_map(|text| tokens.iter().map(move |token| format!("{text}.{token}"))).collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// Every pattern of one to three tokens over `a`, `b` and `*`, with and without `>` in the last place.
fn patterns() -> Vec<Pattern> {
    let without_tail = texts(&["a", "b", "*"], 3);
    let with_tail = texts(&["a", "b", "*"], 2).into_iter().map(|text| text + ".>").chain([">".to_owned()]);
    without_tail.iter().cloned().chain(with_tail).map(|text| Pattern::new(text).expect("generated")).collect()
}

#[test]
fn s9_two_patterns_overlap_when_some_subject_is_selected_by_both() {
    let subjects: Vec<_> = texts(&["a", "b", "c"], 4).iter().map(|s| Subject::new(s).expect("generated")).collect();
    let patterns = patterns();
    assert_eq!((patterns.len(), subjects.len()), (52, 120));
    for left in &patterns {
        for right in &patterns {
            let both = subjects.iter().any(|subject| left.matches(subject) && right.matches(subject));
            assert_eq!(left.overlaps(right), both, "`{left}` and `{right}`");
        }
    }
}

#[test]
fn s8_matching_agrees_with_the_definition_token_by_token() {
    fn defined(pattern: &[&str], subject: &[&str]) -> bool {
        match (pattern, subject) {
            ([], []) => true,
            ([">"], [_, ..]) => true,
            ([p, pattern @ ..], [s, subject @ ..]) => (*p == "*" || p == s) && defined(pattern, subject),
            _ => false,
        }
    }
    for pattern in patterns() {
        for subject in texts(&["a", "b", "c", "ab"], 4) {
            let expected =
                defined(&pattern.as_str().split('.').collect::<Vec<_>>(), &subject.split('.').collect::<Vec<_>>());
            assert_eq!(pattern.matches_str(&subject), expected, "`{pattern}` against `{subject}`");
        }
    }
}
