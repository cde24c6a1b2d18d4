//! Each row both ways: green on a backend that has the property, red on one that is broken in just that respect.
//!
//! A mutant lists the tests that have to be red on it; where there are none, it is another way of keeping the promise. Any
//! other red test, or a listed one that is not red, fails; so does a row without a mutant. Runs use paused time and a
//! runtime of their own, so that they are quick and repeatable.

use std::{collections::BTreeSet, fmt::Write as _, io::Write as _, sync::Arc};

use tokio::runtime::Builder;
use tramline::conformance::{Case, ROWS, Suite};

use crate::{
    archive,
    broken::{self, Fault, set_fault},
    depot, lessor, pretender,
};

/// A backend that is broken on purpose.
pub(crate) struct Mutant {
    /// What is wrong with it.
    pub(crate) name: &'static str,
    /// The tests of the row that it is made for.
    breaks: &'static [&'static str],
    /// The tests of other rows that see it, too, and why they must.
    also: Vec<(&'static [&'static str], &'static str)>,
    suite: fn() -> Suite,
    prepare: Box<dyn Fn() + Send + Sync>,
}

/// A mutant of memory.
pub(crate) fn mutant<F: Fault>(name: &'static str, fault: fn() -> F) -> Mutant {
    Mutant::new(name, broken::suite, move || set_fault(Arc::new(fault())))
}

/// A backend of another type.
pub(crate) fn other(name: &'static str, suite: fn() -> Suite) -> Mutant {
    Mutant { name, breaks: &[], also: Vec::new(), suite, prepare: Box::new(|| ()) }
}

impl Mutant {
    /// A mutant that the suite's fixture makes on this thread once it is prepared.
    pub(crate) fn new(name: &'static str, suite: fn() -> Suite, prepare: impl Fn() + Send + Sync + 'static) -> Self {
        Self { name, breaks: &[], also: Vec::new(), suite, prepare: Box::new(prepare) }
    }

    /// The tests of the row that it is made for.
    pub(crate) fn breaks(self, tests: &'static [&'static str]) -> Self {
        Self { breaks: tests, ..self }
    }

    /// Tests of other rows that see it, too, and why they must.
    pub(crate) fn also(mut self, tests: &'static [&'static str], why: &'static str) -> Self {
        self.also.push((tests, why));
        self
    }

    /// What is otherwise than was said of it.
    fn wrong(&self) -> Result<(), String> {
        let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let expected: BTreeSet<&str> =
            self.breaks.iter().chain(self.also.iter().flat_map(|(tests, _)| *tests)).copied().collect();
        let suite = (self.suite)();
        let mut wrong = String::new();
        let mut known = BTreeSet::new();
        for case in suite.cases() {
            known.insert(case.name());
            (self.prepare)();
            let proof = runtime().block_on(suite.run(*case));
            match (proof.is_red(), expected.contains(case.name())) {
                (true, false) => writeln!(wrong, "\n{}: a test is red that was not expected to be: {proof}", self.name),
                (false, true) => writeln!(wrong, "\n{}: a test had to be red: {proof}", self.name),
                _ => Ok(()),
            }
            .unwrap();
        }
        for test in expected.iter().filter(|test| !known.contains(**test)) {
            writeln!(wrong, "\n{}: `{test}` is no test", self.name).unwrap();
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

fn mutants() -> Vec<Mutant> {
    [broken::mutants(), archive::mutants(), depot::mutants(), lessor::mutants(), pretender::mutants()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn each_mutant_turns_just_the_rows_red_that_it_says() {
    let all = &mutants();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                scope.spawn(move || {
                    all.iter().skip(worker).step_by(2).filter_map(|mutant| mutant.wrong().err()).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.concat());
    show(&table(all));
}

#[test]
fn every_test_of_every_row_has_a_mutant_that_it_is_red_on() {
    let mutants = mutants();
    let broken: BTreeSet<&str> = mutants.iter().flat_map(|mutant| mutant.breaks).copied().collect();
    let tests: BTreeSet<&str> =
        mutants.iter().flat_map(|mutant| (mutant.suite)().cases().iter().map(Case::name).collect::<Vec<_>>()).collect();
    let without: Vec<_> = tests.difference(&broken).collect();
    assert!(without.is_empty(), "no mutant breaks {without:?}");
    let run: BTreeSet<&str> = tests.iter().filter_map(|test| test.split("::").nth(1)).collect();
    let never: Vec<_> =
        ROWS.iter().filter(|row| !row.is_kept_by_type() && !run.contains(row.name)).map(|row| row.name).collect();
    assert!(never.is_empty(), "rows without a test: {never:?}");
}

/// Which mutants each row is red on, and what else sees them.
fn table(mutants: &[Mutant]) -> String {
    let mut table = "\n| # | row | red, as expected, on |\n|---|---|---|\n".to_owned();
    for row in ROWS {
        if row.is_kept_by_type() {
            writeln!(table, "| {} | {} | kept by type, and pinned by a ui test |", row.number, row.name).unwrap();
        }
        for mutant in mutants {
            let own = |test: &&&str| test.split("::").nth(1) == Some(row.name);
            let tests: Vec<_> = mutant.breaks.iter().filter(own).copied().collect();
            if !tests.is_empty() {
                let also: Vec<_> =
                    mutant.also.iter().map(|(tests, why)| format!("{}: {why}", tests.join(", "))).collect();
                let also = if also.is_empty() { String::new() } else { format!(" (also {})", also.join("; ")) };
                let (number, tests) = (row.number, tests.join(", "));
                writeln!(table, "| {number} | {tests} | {}{also} |", mutant.name).unwrap();
            }
        }
    }
    table
}

/// Prints a table also where the output of tests that pass is not shown.
pub(crate) fn show(table: &str) {
    std::io::stdout().write_all(table.as_bytes()).unwrap();
}
