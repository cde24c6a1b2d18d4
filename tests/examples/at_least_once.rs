//! The example `at_least_once`, run as a user runs it: what it prints is what happens.

use crate::command;

#[test]
fn the_example_prints_each_attempt_and_a_ledger_that_explains_them() {
    let output = command("at_least_once", &[]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    for line in ["plain     attempt 1: done", "flaky     attempt 2: done", "busy      attempt 2: done"] {
        assert!(said.contains(line), "no `{line}` in\n{said}");
    }
    assert_eq!(said.matches("stubborn  attempt ").count(), 3, "{said}");
    for line in [
        "   8  offered",
        "   8  delivered",
        "   3  acked",
        "   2  nacked",
        "   3  silent",
        "   1  exhausted",
        "   0  stranded",
    ] {
        assert!(said.contains(line), "no `{line}` in\n{said}");
    }
    // O1, O3: 50 ms and then 100 ms at least.
    let times: Vec<u64> = said
        .lines()
        .filter(|line| line.contains("stubborn  attempt"))
        .map(|line| line.split_whitespace().next().unwrap().parse().unwrap())
        .collect();
    assert!(times[1] - times[0] >= 49 && times[2] - times[1] >= 99, "{times:?}");
}
