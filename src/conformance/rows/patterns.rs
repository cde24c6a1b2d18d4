//! Which subjects a pattern selects, in both modes.

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::MatchesPatterns,
};

/// The subjects of the truth table that can be published to; `a..c` is none (S2), and no publish gets as far as a backend
/// with it.
const SUBJECTS: [&str; 6] = ["a", "b", "a.b", "a.c", "a.b.c", "A"];

/// The truth table: a pattern, and those of the subjects that it selects. Each row plays under a namespace, where the
/// contract's `*` is `namespace.*`.
const SELECTED: [(&str, &[&str]); 12] = [
    ("a", &["a"]),
    ("a.b", &["a.b"]),
    ("a.*", &["a.b", "a.c"]),
    ("*", &["a", "b", "A"]),
    ("*.b", &["a.b"]),
    ("*.*", &["a.b", "a.c"]),
    ("a.>", &["a.b", "a.c", "a.b.c"]),
    (">", &["a", "b", "a.b", "a.c", "a.b.c", "A"]),
    ("*.>", &["a.b", "a.c", "a.b.c"]),
    ("a.*.>", &["a.b.c"]),
    ("A", &["A"]),
    ("a.*.c", &["a.b.c"]),
];

pub(crate) const CONCRETE_SUBJECT: Row = Row {
    number: "7",
    name: "concrete_subject",
    needs: "matches patterns",
    rules: "S11",
    promise: "a delivery carries the subject that was published to, not the pattern that selected it",
    cause: "the subscription's own subject is put on each delivery",
};

/// Row 7 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn concrete_subject<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M> + MatchesPatterns,
{
    for pattern in ["a.*", "a.>", ">"] {
        let mut tap = stage.tap::<M>(pattern).await?;
        for subject in ["a.b", "a.c"] {
            // Another event each time: a broker that tells duplicates keeps one of those that are the same (Q8).
            let id = format!("{subject} for {pattern}");
            stage.publish(subject, [&*id]).await?;
            let (got, published) = (tap.next().await?, stage.subject(subject));
            ensure!(
                got.id() == id && got.subject == published,
                "`{id}` was published to `{published}`, and the source of `{pattern}` got `{}` on `{}`",
                got.id(),
                got.subject
            );
            got.ack().await?;
        }
    }
    Ok(())
}

pub(crate) const PATTERN_TRUTH_TABLE: Row = Row {
    number: "8",
    name: "pattern_truth_table",
    needs: "matches patterns",
    rules: "S8",
    promise: "a pattern selects what the truth table says",
    cause: "`>` matches no token, or `*` more than one",
};

/// Row 8 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn pattern_truth_table<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M> + MatchesPatterns,
{
    let mut taps = Vec::new();
    for (pattern, _) in SELECTED {
        taps.push(stage.tap::<M>(pattern).await?);
    }
    for subject in SUBJECTS {
        stage.publish(subject, [subject]).await?;
    }
    let expected = SELECTED.iter().map(|(_, selected)| selected.len()).sum();
    let got = stage.gather(&mut taps, expected).await?;
    let mut wrong = Vec::new();
    for (at, (pattern, selected)) in SELECTED.iter().enumerate() {
        for subject in SUBJECTS {
            let times = got.get(&(at, subject.to_owned())).copied().unwrap_or_default();
            match (times, selected.contains(&subject)) {
                (0, true) => wrong.push(format!("`{pattern}` selects `{subject}`, and did not get it")),
                (1.., false) => wrong.push(format!("`{pattern}` got `{subject}`, which it does not select")),
                (2.., true) => wrong.push(format!("`{pattern}` got `{subject}` {times} times")),
                _ => {}
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::seen(wrong.join("; "))) }
}

#[cfg(test)]
mod tests {
    use super::{SELECTED, SUBJECTS};
    use crate::subject::{Pattern, Subject};

    #[test]
    fn the_table_is_that_of_the_patterns_themselves() {
        for (text, selected) in SELECTED {
            let pattern = Pattern::new(text).expect("it is valid");
            for subject in SUBJECTS {
                let matches = pattern.matches(&Subject::new(subject).expect("it is valid"));
                assert_eq!(matches, selected.contains(&subject), "`{text}` and `{subject}`");
            }
        }
    }
}
