//! What README.md and the guide say of the backends, held to the backends themselves. Its example is compiled as a doc-test.

use std::{env, fs, iter};

use tramline::{
    JetStream, Memory, Nats,
    contract::{Backend, Capabilities},
};

/// Every backend of this repository, in the order of the table's columns.
const BACKENDS: &[Capabilities] = &[Memory::CAPABILITIES, Nats::CAPABILITIES, JetStream::CAPABILITIES];

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const BEGIN: &str = "<!-- capabilities: written by tests/readme.rs -->\n";
const END: &str = "<!-- end of capabilities -->";

#[test]
fn the_readme_and_the_guide_have_the_capability_table_of_every_backend() {
    for page in [README, concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/choosing_a_backend.md")] {
        let text = fs::read_to_string(page).expect("it is there");
        let (before, rest) = text.split_once(BEGIN).expect("the page has a place for the table");
        let (found, after) = rest.split_once(END).expect("the place has an end");
        let right = table(BACKENDS);
        if found == right {
            continue;
        }
        assert!(
            env::var_os("UPDATE_README").is_some(),
            "the table in {page} is stale: run this test with UPDATE_README=1, or write\n\n{right}"
        );
        fs::write(page, format!("{before}{BEGIN}{right}{END}{after}")).expect("the page can be written");
    }
}

/// One row for each capability, one column for each backend.
fn table(backends: &[Capabilities]) -> String {
    let columns: Vec<Vec<_>> = backends.iter().map(|backend| backend.rows().collect()).collect();
    let capabilities = columns.first().expect("there is a backend").iter().map(|(name, ..)| *name);
    let heads =
        iter::once("capability".to_owned()).chain(backends.iter().map(|backend| format!("`{}`", backend.backend())));
    let mut rows = vec![row(heads), row(iter::once("---".to_owned()).chain(backends.iter().map(|_| "---".to_owned())))];
    for (index, capability) in capabilities.enumerate() {
        let cells = columns.iter().map(|column| {
            let (name, has, detail) = &column[index];
            assert_eq!(*name, capability, "all backends have the same rows");
            match (has, detail.as_str()) {
                (_, detail) if *name == "storage" => detail.to_owned(),
                (false, _) => "–".to_owned(),
                (true, "") => "yes".to_owned(),
                (true, detail) => format!("yes: {detail}"),
            }
        });
        rows.push(row(iter::once(capability.to_owned()).chain(cells)));
    }
    rows.concat()
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[test]
fn the_error_in_the_readme_is_still_what_the_compiler_says() {
    let pinned =
        concat!(env!("CARGO_MANIFEST_DIR"), "/ui-tests/capability/at_least_once_in_memory_needs_allow_volatile.stderr");
    let pinned = fs::read_to_string(pinned).expect("the ui test of the same mistake");
    let mut pinned = pinned.lines().filter_map(said);
    let readme = readme();
    let shown: Vec<&str> = error(&readme).lines().filter_map(said).collect();
    assert!(shown.iter().any(|line| line.starts_with("= note: write `allow_volatile`")), "the fix is shown");
    for line in shown {
        assert!(pinned.any(|other| other == line), "the compiler does not say this, or not in this order: {line}");
    }
}

#[test]
fn the_error_in_the_readme_is_about_the_code_above_it() {
    let readme = readme();
    let (_, code) = readme.split_once("```rust,no_run\n").expect("the readme has a service");
    let asks_for_more = readme.lines().find_map(|line| line.strip_prefix("`#[subscription(")?.strip_suffix("`."));
    let asks_for_more = format!("#[subscription({}", asks_for_more.expect("and what it asks for then"));
    let quotes: Vec<(usize, &str)> = error(&readme)
        .lines()
        .filter_map(|line| line.split_once(" | "))
        .filter_map(|(number, quoted)| Some((number.trim().parse().ok()?, quoted)))
        .collect();
    assert_eq!(quotes.len(), 3, "the call, the setting and the function");
    for (number, quoted) in quotes {
        let line = code.lines().nth(number - 1).expect("the service has that line");
        let line = if line.starts_with("#[subscription(") { &asks_for_more } else { line };
        assert_eq!(quoted, line, "line {number}");
    }
}

/// The error that the readme shows.
fn error(readme: &str) -> &str {
    let (_, rest) = readme.split_once("```text\nerror[E0277]").expect("the readme shows an error");
    rest.split_once("```").expect("the error has an end").0
}

/// What a line of an error says, without its drawing; nothing if it is a place, a quotation, or drawing only.
fn said(line: &str) -> Option<&str> {
    let line = line.strip_prefix("error[E0277]").unwrap_or(line);
    let quotation = line.split_once(" | ").is_some_and(|(number, _)| number.trim().parse::<usize>().is_ok());
    let says = line.trim_start_matches([' ', '|', '-', '^']);
    (!quotation && !says.is_empty() && !line.trim_start().starts_with("-->")).then_some(says)
}

fn readme() -> String {
    fs::read_to_string(README).expect("it is there")
}
