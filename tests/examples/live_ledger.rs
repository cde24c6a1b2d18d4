//! The example `live_ledger`, run with its output piped: plain tables that add up and fit a terminal, and an end.

use crate::command;

#[test]
fn the_example_prints_plain_tables_that_fit_and_ends_by_itself() {
    let output = command("live_ledger", &["3"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains('\x1b'), "nothing for a terminal: {said}");
    let (live, last) = said.split_once("stopped. ").expect("it says that it has stopped");
    assert!(live.lines().all(|line| line.chars().count() < 80), "{live}");
    assert!(live.matches("what else").count() >= 2, "one table a second: {live}");
    for what in ["shed", "again", "panics", "errors"] {
        assert!(live.contains(what), "{what}: {live}");
    }
    // Each row of the last table adds up.
    let rows: Vec<_> = last.lines().filter(|line| line.contains(" = ") && line.contains('+')).skip(1).collect();
    let sums = rows.iter().filter(|row| !row.contains("offered") && !row.contains("answered"));
    let numbers = |text: &str| text.split(['+', ' ']).filter_map(|part| part.parse::<u64>().ok()).collect::<Vec<_>>();
    let mut counted = 0;
    for row in sums {
        let (offered, explained) = row.split_once(" = ").unwrap();
        assert_eq!(numbers(offered), [numbers(explained).iter().sum::<u64>()], "{row}");
        counted += 1;
    }
    assert_eq!(counted, 6, "five subscriptions and a name of requests: {last}");
}
