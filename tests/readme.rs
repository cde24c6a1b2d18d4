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
    assert!(
        !Memory::CAPABILITIES.survives_restart(),
        "the readme's error is about a backend that has the capability now: take the error of another"
    );
    let contract =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/contract/capability.rs")).expect("it is there");
    let readme = readme();
    let (_, error) = readme.split_once("```text\nerror[E0277]: ").expect("the readme shows an error");
    let (error, _) = error.split_once("```").expect("the error has an end");
    let after = |start: &str| error.split_once(start).and_then(|(_, rest)| rest.lines().next()).expect(start);
    let said = [
        ("message", error.lines().next().expect("a first line").replace("`Memory`", "`{Self}`")),
        ("label", format!("asks for {}", after("^ asks for "))),
        ("note", after("= note: ").to_owned()),
    ];
    for (part, text) in said {
        assert!(contract.contains(&format!("{part} = {text:?}")), "no capability has the {part} {text:?}");
    }
}

fn readme() -> String {
    fs::read_to_string(README).expect("it is there")
}
