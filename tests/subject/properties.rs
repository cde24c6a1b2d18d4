//! What holds for every text, valid or not.

use proptest::prelude::*;
use tramline::subject::{DurableName, Group, Name, Pattern, PatternIndex, Subject};

/// Text that is often nearly valid.
fn nearly() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab.*>$ ]{0,8}",
        "[a-c*>é\u{2003}\u{7f}日🚋]{1,3}(\\.[a-c*>é\u{2003}\u{7f}日🚋]{1,3}){0,3}",
        any::<String>(),
        "(a|b|\\*|>){1}(\\.(a|b|\\*|>)){0,3}",
    ]
}

fn subject() -> impl Strategy<Value = Subject> {
    "[a-c](\\.[a-c]){0,4}".prop_map(|text| Subject::new(text).expect("generated"))
}

fn pattern() -> impl Strategy<Value = Pattern> {
    "(>|[a-c*](\\.[a-c*]){0,3}(\\.>)?)".prop_map(|text| Pattern::new(text).expect("generated"))
}

/// Parses, displays and parses again: the same value and the same text.
macro_rules! round_trips {
    ($text:expr, $($type:ty),+) => {$(
        match <$type>::new(&$text) {
            Ok(parsed) => {
                prop_assert_eq!(parsed.to_string(), $text.as_str());
                prop_assert_eq!(&parsed.to_string().parse::<$type>().expect("what parsed once"), &parsed);
            }
            Err(error) => {
                prop_assert_eq!(error.text(), $text.as_str());
                prop_assert!(error.to_string().contains(error.flaw().rule()));
            }
        }
    )+};
}

proptest! {
    #[test]
    fn parsing_never_panics_and_display_is_its_inverse(text in nearly()) {
        round_trips!(text, Subject, Pattern, Name, Group, DurableName);
    }

    #[test]
    fn a_subject_is_a_literal_pattern_and_the_reverse(text in nearly()) {
        let literal = Pattern::new(&text).ok().and_then(|pattern| pattern.as_subject());
        prop_assert_eq!(Subject::new(&text).ok(), literal);
    }

    #[test]
    fn matching_any_two_texts_never_panics(pattern in nearly(), text in nearly()) {
        if let Ok(pattern) = Pattern::new(pattern) {
            let found = Subject::new(&text).is_ok_and(|subject| pattern.matches(&subject));
            prop_assert_eq!(pattern.matches_str(&text), found);
        }
    }

    #[test]
    fn overlap_is_symmetric_and_follows_from_a_common_subject(
        left in pattern(),
        right in pattern(),
        subject in subject(),
    ) {
        prop_assert_eq!(left.overlaps(&right), right.overlaps(&left));
        prop_assert!(left.overlaps(&left));
        if left.matches(&subject) && right.matches(&subject) {
            prop_assert!(left.overlaps(&right));
        }
    }

    #[test]
    fn the_index_finds_what_a_scan_finds(
        patterns in prop::collection::vec(pattern(), 0..24),
        subjects in prop::collection::vec(subject(), 1..8),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        modulus in 1_usize..4,
    ) {
        let mut index = PatternIndex::new();
        let mut kept: Vec<(usize, Pattern)> = patterns.into_iter().enumerate().collect();
        for (id, pattern) in &kept {
            index.insert(pattern, *id);
        }
        agree(&index, &kept, &subjects)?;

        for gone in gone {
            if kept.is_empty() {
                break;
            }
            let (id, pattern) = kept.swap_remove(gone.index(kept.len()));
            kept.sort_unstable();
            prop_assert_eq!(index.remove_where(&pattern, |other| *other == id), 1);
            prop_assert_eq!(index.remove_where(&pattern, |other| *other == id), 0);
            agree(&index, &kept, &subjects)?;
        }

        index.retain(|id| id % modulus == 0);
        kept.retain(|(id, _)| id % modulus == 0);
        agree(&index, &kept, &subjects)?;

        index.retain(|_| false);
        prop_assert!(index.is_empty());
    }
}

fn agree(index: &PatternIndex<usize>, kept: &[(usize, Pattern)], subjects: &[Subject]) -> Result<(), TestCaseError> {
    for subject in subjects {
        let mut found = Vec::new();
        index.for_each_match(subject, |id| found.push(*id));
        found.sort_unstable();
        let scanned: Vec<_> = kept.iter().filter(|(_, pattern)| pattern.matches(subject)).map(|(id, _)| *id).collect();
        prop_assert_eq!(found, scanned, "for `{}`", subject);
    }
    for (_, pattern) in kept {
        let same: Vec<_> = kept.iter().filter(|(_, other)| other == pattern).map(|(id, _)| *id).collect();
        prop_assert_eq!(index.get(pattern), same.as_slice(), "under `{}`", pattern);
    }
    prop_assert_eq!(index.len(), kept.len());
    prop_assert_eq!(index.is_empty(), kept.is_empty());
    Ok(())
}
