//! The suite's table in the documentation of the backends: each row's test holds its own cell to what it came to.

use std::{
    collections::HashMap,
    env, fs,
    sync::{Mutex, PoisonError},
};

use tramline::conformance::{Case, Proof, ROWS};

use crate::{conformance_core, conformance_jetstream, server::Version};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/backend/conformance.md");
/// Writes it anew. The rows run in it, so that no cell says what nobody saw.
const COMMAND: &str = "UPDATE_CONFORMANCE=1 cargo test --all-features --test nats conformance";
const COLUMNS: [(&str, Version); 4] =
    [("Nats", Version::V2_9), ("Nats", Version::V2_15), ("JetStream", Version::V2_9), ("JetStream", Version::V2_15)];
const NOT_RUN: &str = "not run";

/// A row's test and a column.
type Place = (String, usize);

/// Holds the table to what a row came to.
pub(crate) fn hold(version: Version, proof: &Proof) {
    let column = COLUMNS.iter().position(|column| *column == (proof.backend, version)).expect("it has a column");
    let cell = proof.standing.to_string();
    assert!(!cell.contains(['|', '\n']), "it fits into a cell: {cell}");
    hold_to(Some(((proof.case.to_owned(), column), cell)));
}

#[test]
fn the_conformance_table_has_all_rows_and_no_others_and_each_has_run() {
    let table = hold_to(None);
    // When it is written, the rows may run after this.
    assert!(is_written() || !table.contains(NOT_RUN), "`{COMMAND}` runs what has not run:\n{table}");
}

/// Gives the table as it has to be, which it then is.
fn hold_to(seen: Option<(Place, String)>) -> String {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = fs::read_to_string(PATH).unwrap_or_default();
    let mut cells = cells(&found);
    let said = seen.map(|(place, cell)| {
        let said = cells.insert(place.clone(), cell.clone());
        format!("{} on {}: says {said:?}, and it came to {cell:?}", place.0, head(place.1))
    });
    let right = table(&cells);
    if found != right {
        assert!(
            is_written(),
            "src/backend/conformance.md is stale: `{COMMAND}` writes it\n{}",
            said.unwrap_or_default()
        );
        fs::write(PATH, &right).expect("it can be written");
    }
    right
}

fn is_written() -> bool {
    env::var_os("UPDATE_CONFORMANCE").is_some()
}

/// What a table says.
fn cells(table: &str) -> HashMap<Place, String> {
    let mut cells = HashMap::new();
    for line in table.lines().skip(2) {
        let parts: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, row, mode, _, columns @ ..] = &parts[..] else { continue };
        for (column, cell) in columns.iter().enumerate() {
            cells.insert((format!("{mode}::{row}"), column), (*cell).to_owned());
        }
    }
    cells
}

/// One line for each test of the suite, in the contract's order, and for each row that has none.
fn table(cells: &HashMap<Place, String>) -> String {
    let (nats, jetstream) = (conformance_core::v2_9::suite(), conformance_jetstream::v2_9::suite());
    // One that survives has all that the other has, and the rows of a restart.
    assert!(nats.cases().iter().all(|case| has(jetstream.cases(), case.name())));
    let columns = || (0..COLUMNS.len()).map(head);
    let head = ["#", "row", "in", "rules"].map(str::to_owned).into_iter().chain(columns());
    let mut lines = vec![line(head), line((0..4 + COLUMNS.len()).map(|_| "---".to_owned()))];
    for row in ROWS {
        if row.is_kept_by_type() {
            let start = [row.number, row.name, "the types", row.rules].map(str::to_owned);
            lines.push(line(start.into_iter().chain(columns().map(|_| "kept by type".to_owned()))));
        }
        for case in jetstream.cases().iter().filter(|case| case.row() == row) {
            let (mode, _) = case.name().split_once("::").expect("a test is in a group");
            let start = [row.number, row.name, mode, row.rules].map(str::to_owned);
            let results = COLUMNS.iter().enumerate().map(|(column, (backend, _))| {
                if *backend == "Nats" && !has(nats.cases(), case.name()) {
                    return "not asked: it keeps nothing".to_owned();
                }
                cells.get(&(case.name().to_owned(), column)).map_or_else(|| NOT_RUN.to_owned(), Clone::clone)
            });
            lines.push(line(start.into_iter().chain(results)));
        }
    }
    lines.concat()
}

fn has(cases: &[Case], name: &str) -> bool {
    cases.iter().any(|case| case.name() == name)
}

fn head(column: usize) -> String {
    let (backend, version) = COLUMNS[column];
    format!("`{backend}` on {}", version.prefix().trim_end_matches('.'))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}
