//! The example `request_reply`, run as a user runs it: what it prints is what happens.

use crate::command;

#[test]
fn the_example_prints_replies_a_failure_a_deadline_and_both_ledgers() {
    let output = command("request_reply", &[]).output().unwrap();
    let (said, logged) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{said}\n{logged}");
    for line in [
        "tea: 250 cents",
        "coffee: 310 cents",
        "caviar: sold out",
        "gold: no price, the responder returned an error",
        "saffron: no reply within 100ms",
    ] {
        assert!(said.lines().any(|said| said == line), "no `{line}` in\n{said}");
    }
    assert!(logged.contains("the price list has a hole"), "the detail stays with the service: {logged}");
    assert!(!said.contains("hole"), "{said}");

    // One row for each member: what it was offered is what it answered or had nobody to answer to.
    let members = ["first_desk", "second_desk"].map(|member| {
        let asked = said.matches(&format!("{} is asked", member.replace('_', " "))).count();
        assert_eq!(numbers(&said, &format!("{member} "))[..2], [asked, asked], "offered and delivered: {said}");
        asked
    });
    assert_eq!(members.iter().sum::<usize>(), 6, "five requests and a publish, each to one member: {said}");
    assert!(members.iter().all(|asked| *asked > 0), "both work: {said}");
    let replies = |what| -> usize {
        let of_member =
            |line: &str| line.split(&format!("{what} ")).nth(1)?.split([',', ' ']).next()?.parse::<usize>().ok();
        said.lines().filter(|line| line.contains("desk replies:")).filter_map(of_member).sum()
    };
    assert_eq!((replies("replied"), replies("unaddressed")), (5, 1), "{said}");

    // sent = answered + no responders + no reply + failed + in flight
    assert_eq!(numbers(&said, "pricing "), [5, 4, 0, 1, 0, 0], "R4: {said}");
    assert!(said.contains("replies that came too late: unclaimed 1"), "{said}");
}

/// The numbers in the line that begins so.
fn numbers(said: &str, begin: &str) -> Vec<usize> {
    let line = said.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("no `{begin}` in\n{said}"));
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
