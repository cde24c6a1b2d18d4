//! The guide is read from chapter to chapter: the index has them in order, and each leads to the next one.

use std::{fs, path::Path};

const INDEX: &str = include_str!("../src/guide/mod.rs");

#[test]
fn the_index_lists_the_chapters_in_the_order_in_which_they_stand() {
    let listed: Vec<&str> =
        INDEX.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once("](")).map(link).collect();
    assert_eq!(listed, chapters());
}

#[test]
fn each_chapter_ends_with_what_to_read_next() {
    let chapters = chapters();
    for (chapter, next) in chapters.iter().zip(&chapters[1..]) {
        let text = text(chapter);
        let last = text.trim_end().lines().last().expect("a chapter has lines");
        assert!(last.starts_with("Next: ") && last.contains(&format!("(crate::guide::{next})")), "{chapter}: {last}");
    }
    let last = text(chapters.last().expect("there are chapters"));
    assert!(last.trim_end().lines().last().is_some_and(|line| line.starts_with("Next: ")));
}

#[test]
fn every_file_of_the_guide_is_a_chapter() {
    let files = fs::read_dir(folder()).expect("the guide is there").map(|entry| entry.expect("it can be read").path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    let mut chapters = chapters();
    names.sort_unstable();
    chapters.sort_unstable();
    assert_eq!(names, chapters);
}

/// The modules of the guide, in order.
fn chapters() -> Vec<&'static str> {
    let modules = INDEX.lines().filter_map(|line| line.strip_prefix("pub mod "));
    let chapters: Vec<&str> = modules.map(|rest| rest.trim_end_matches([' ', '{', '}', ';'])).collect();
    assert!(chapters.len() > 10, "the guide has chapters");
    chapters
}

fn link(parts: (&'static str, &'static str)) -> &'static str {
    parts.1.split(')').next().unwrap_or_default()
}

fn text(chapter: &str) -> String {
    fs::read_to_string(folder().join(format!("{chapter}.md"))).expect("the chapter has its text")
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide"))
}
