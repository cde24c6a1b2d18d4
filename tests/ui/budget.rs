//! What an error may cost its reader.

use crate::grammar::{Voice, voice};

/// A reader without a large screen sees this much of one error.
const MOST_LINES: usize = 40;
/// By here the fix must have been said.
const FIX_BY: usize = 14;
const WIDEST: usize = 160;

/// What tells of this crate's inside, or sends the reader elsewhere.
const UNFIT: [&str; 4] = ["__private", "long-type", "/rustc/", "InMode"];

/// Words that say what to do. A fix has one of them.
const FIXES: [&str; 22] = [
    "add ",
    "as in `",
    "begin with ",
    "build ",
    "derive ",
    "did you mean",
    "expected `",
    "give ",
    "goes on ",
    "implement ",
    "is written ",
    "join ",
    "leave ",
    "name ",
    "parse ",
    "pass ",
    "put ",
    "raise ",
    "return ",
    "take ",
    "the settings are",
    "write ",
];

/// Everything that is wrong with a text of errors.
pub(crate) fn check(folder: &str, declared: usize, stderr: &str) -> Vec<String> {
    let errors = split(stderr);
    let mut complaints = Vec::new();
    if errors.len() != declared {
        complaints.push(format!("{} errors, and {declared} declared", errors.len()));
    }
    if stderr.lines().any(|line| line.starts_with("warning")) {
        complaints.push("a warning beside the error".to_owned());
    }
    for unfit in UNFIT.into_iter().filter(|unfit| stderr.contains(unfit)) {
        complaints.push(format!("`{unfit}` is shown"));
    }
    for line in stderr.lines().filter(|line| line.chars().count() > WIDEST && !is_rustcs_own(line)) {
        complaints.push(format!("a line of {} columns: {line}", line.chars().count()));
    }
    for error in errors {
        let first = error[0];
        match voice(folder, first) {
            None => complaints.push(format!("the first line is not in the grammar of {folder}/: {first}")),
            Some(Voice::Ours) if fix(&error).is_none() => {
                complaints.push(format!("no fix in the first {FIX_BY} lines of: {first}"));
            }
            Some(_) => {}
        }
        if error.len() > MOST_LINES {
            complaints.push(format!("{} lines: {first}", error.len()));
        }
    }
    complaints
}

/// What differs between the pinned errors and those of another toolchain, apart from rustc's own words.
pub(crate) fn compare(folder: &str, pinned: &str, found: &str) -> impl Iterator<Item = String> {
    let (pinned, found) = (split(pinned), split(found));
    let mut complaints = Vec::new();
    if pinned.len() != found.len() {
        complaints.push(format!("{} errors instead of {}", found.len(), pinned.len()));
    }
    for pinned in pinned.iter().filter(|pinned| voice(folder, pinned[0]) == Some(Voice::Ours)) {
        match found.iter().find(|found| without_places(found[0]) == without_places(pinned[0])) {
            None => complaints.push(format!("no error begins with: {}", pinned[0])),
            Some(found) if fix(found).is_none() => complaints.push(format!("no fix in: {}", pinned[0])),
            Some(_) => {}
        }
    }
    complaints.into_iter()
}

/// A first line without where its closure stands.
fn without_places(line: &str) -> String {
    match (line.split_once("{closure@"), line.rsplit_once('}')) {
        (Some((before, _)), Some((_, after))) => format!("{before}{{closure}}{after}"),
        _ => line.to_owned(),
    }
}

/// The errors one by one, each without the empty lines at its end.
fn split(stderr: &str) -> Vec<Vec<&str>> {
    let mut errors: Vec<Vec<&str>> = Vec::new();
    for line in stderr.lines() {
        if line.starts_with("error") {
            errors.push(vec![line]);
        } else if let Some(error) = errors.last_mut() {
            error.push(line);
        }
    }
    for error in &mut errors {
        while error.last().is_some_and(|line| line.trim().is_empty()) {
            error.pop();
        }
    }
    errors
}

/// The line that says what to do: the first one, or one that is neither code nor a place.
fn fix<'e>(error: &[&'e str]) -> Option<&'e str> {
    // With the code of a bound that is not met, the first line is the fact alone.
    let in_first = !error[0].starts_with("error[E0277]");
    let mut words = error.iter().take(FIX_BY).enumerate().filter(|(number, line)| {
        let line = line.trim_start();
        if *number == 0 {
            return in_first;
        }
        line.starts_with("= note: ") || line.starts_with("help: ") || !line.contains(['|', '>'])
    });
    words.find(|(_, line)| FIXES.iter().any(|fix| line.contains(fix))).map(|(_, line)| *line)
}

/// rustc's note about sealed traits is long, and ours stands before it.
fn is_rustcs_own(line: &str) -> bool {
    line.contains("is a \"sealed trait\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
error[E0277]: backend `Nats` cannot deliver at least once
 --> src/main.rs:3:5
  |
3 |     bus.subscribe(invoices)
  |         --------- ^^^^^^^^ asks for `AtLeastOnce`
  |
  = note: write `mode = AtMostOnce`, or take a backend that waits for an acknowledgement
";

    fn only(text: &str, complaint: &str) {
        let found = check("capability", 1, text);
        assert!(matches!(&found[..], [one] if one.contains(complaint)), "{found:?}");
    }

    #[test]
    fn a_good_error_is_not_complained_about() {
        assert_eq!(check("capability", 1, GOOD), Vec::<String>::new());
    }

    #[test]
    fn a_second_error_is_counted() {
        only(&GOOD.repeat(2), "2 errors, and 1 declared");
        assert_eq!(check("capability", 2, &GOOD.repeat(2)), Vec::<String>::new());
        only("", "0 errors");
    }

    #[test]
    fn a_first_line_of_rustcs_is_seen() {
        let own = "the trait bound `Nats: DeliversAtLeastOnce` is not satisfied";
        only(&GOOD.replace("backend `Nats` cannot deliver at least once", own), "grammar");
    }

    #[test]
    fn a_missing_or_late_fix_is_seen() {
        let note = GOOD.lines().last().expect("the note");
        only(&GOOD.replace(note, "  = help: the trait is not implemented"), "no fix");
        only(&GOOD.replace(note, &format!("{}{note}", "  |\n".repeat(8))), "no fix");
        only(&GOOD.replace(note, "4 |     write();"), "no fix");
    }

    #[test]
    fn length_and_width_are_bounded() {
        only(&format!("{GOOD}{}", "  |\n".repeat(34)), "41 lines");
        only(&format!("{GOOD}  = note: {}\n", "x".repeat(151)), "161 columns");
    }

    #[test]
    fn what_is_inside_is_not_shown() {
        for unfit in ["tramline::__private::Facts", "written to 'x.long-type-1.txt'", "/rustc/1234/core.rs"] {
            only(&format!("{GOOD}  = note: {unfit}\n"), "is shown");
        }
        only(&format!("{GOOD}\nwarning: unused variable\n"), "a warning");
    }

    #[test]
    fn another_toolchain_is_held_to_what_is_ours() {
        let reworded = GOOD.replace("  |         --------- ^^^^^^^^", "  |         here:     ^^^^^^^^");
        assert_eq!(compare("capability", GOOD, &reworded).count(), 0);
        assert_eq!(compare("capability", GOOD, &GOOD.repeat(2)).count(), 1);
        let other = GOOD.replace("cannot deliver", "does not deliver");
        assert_eq!(compare("capability", GOOD, &other).count(), 1);
        let note = GOOD.lines().last().expect("the note");
        assert_eq!(compare("capability", GOOD, &GOOD.replace(note, "")).count(), 1);
    }
}
