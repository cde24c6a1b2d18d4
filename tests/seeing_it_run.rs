//! The chapter "Seeing it run" names every event that the crate tells `tracing`, at its level, and no other.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::{collections::BTreeSet, fs, path::Path};

/// An event's name and its level.
type Event = (String, String);

const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

/// The code of every file, without comments and documentation.
fn code(folder: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            all.push((path.display().to_string(), lines.join("\n")));
        }
    }
}

/// The text behind each place where this stands.
fn behind<'t>(text: &'t str, what: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(what).map(move |(at, found)| text[at + found.len()..].trim_start())
}

/// The literal that a text begins with, after this, and what follows.
fn literal<'t>(text: &'t str, before: &str) -> Option<(&'t str, &'t str)> {
    text.strip_prefix(before)?.trim_start().strip_prefix('"')?.split_once('"')
}

fn told() -> BTreeSet<Event> {
    let mut all = Vec::new();
    code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let mut told = BTreeSet::new();
    for (file, text) in &all {
        for level in LEVELS {
            for event in behind(text, &format!("tracing::{level}!(")) {
                let named = literal(event, "name:");
                let (name, rest) = named.unwrap_or_else(|| panic!("{file}: a {level} without a name: {event:.60}"));
                let target = literal(rest.trim_start_matches(',').trim_start(), "target:");
                assert_eq!(target.map(|(target, _)| target), Some("tramline"), "{file}: `{name}`");
                told.insert((name.to_owned(), level.to_uppercase()));
            }
            let level = level.to_uppercase();
            for event in behind(text, &format!("tell!(Level::{level},")) {
                told.insert((literal(event, "").unwrap().0.to_owned(), level.clone()));
            }
        }
    }
    told
}

#[test]
fn every_event_has_a_name_that_the_chapter_has_with_its_level() {
    let guide = include_str!("../src/guide/seeing_it_run.md");
    let row = |line: &str| -> Option<Event> {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let name = cells.next()?.trim_end_matches('`');
        let level = cells.next()?.trim_matches('`');
        LEVELS.contains(&level.to_lowercase().as_str()).then(|| (name.to_owned(), level.to_owned()))
    };
    let documented: BTreeSet<Event> = guide.lines().filter_map(row).collect();
    let told = told();
    assert!(told.len() > 20, "{told:?}");
    let differ: Vec<_> = documented.symmetric_difference(&told).collect();
    assert!(differ.is_empty(), "in one of the two only: {differ:?}");
}
