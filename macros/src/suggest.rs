//! "Did you mean": the nearest of the accepted words.

/// The nearest word, if it is near enough to be a slip.
pub(crate) fn nearest<'w>(given: &str, words: &[&'w str]) -> Option<&'w str> {
    let near = |word: &str| distance(&fold(given), &fold(word));
    let (word, distance) = words.iter().map(|word| (*word, near(word))).min_by_key(|(_, distance)| *distance)?;
    (distance <= given.len().min(word.len()) / 3).then_some(word)
}

/// Quotes and lists words: `a`, `b` or `c`; with a comma for the last, too, `a`, `b`, `c`.
pub(crate) fn listed(words: &[&str], last: &str) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((end, rest)) if !rest.is_empty() => {
            let space = if last == "," { "" } else { " " };
            format!("{}{space}{last} {end}", rest.join(", "))
        }
        _ => quoted.concat(),
    }
}

fn fold(word: &str) -> String {
    word.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// How many letters must be put in, taken out, replaced, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if swapped { least.min(rows[i - 2][j - 2] + 1) } else { least }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let words = ["pattern", "durable", "max_deliver", "max_nack_delay", "AtLeastOnce"];
        assert_eq!(nearest("patern", &words), Some("pattern"));
        assert_eq!(nearest("durabel", &words), Some("durable"));
        assert_eq!(nearest("maxDeliver", &words), Some("max_deliver"));
        assert_eq!(nearest("at_least_once", &words), Some("AtLeastOnce"));
        assert_eq!(nearest("queue", &words), None);
    }
}
