//! The rows about leases, on a small store that has them, and each of its flaws.

use std::cell::Cell;

use tramline::conformance::Fixture;

use crate::{
    both_ways::Mutant,
    stores::lessor::{Flaw, Lessor},
};

thread_local! {
    static FLAW: Cell<Flaw> = const { Cell::new(Flaw::None) };
}

pub(crate) struct LessorFixture(Flaw);

impl Fixture for LessorFixture {
    type Backend = Lessor;

    async fn open(_namespace: &str) -> Self {
        Self(FLAW.get())
    }

    fn backend(&self) -> Lessor {
        Lessor::with(self.0)
    }
}

tramline::conformance! { volatile: LessorFixture }

/// The lessor with one flaw, and the rows that see it.
fn mutant(name: &'static str, flaw: Flaw) -> Mutant {
    Mutant::new(name, suite, move || FLAW.set(flaw))
}

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("nobody extends the lease", Flaw::NoHeartbeat)
            .breaks(&["at_least_once::lease_extended"])
            .also(&["at_least_once::lease_bound"], "the message is handed on too early"),
        mutant("a lease is extended for ever", Flaw::NoEnd).breaks(&["at_least_once::lease_bound"]),
        mutant("an expiry is not counted", Flaw::NotCounted)
            .breaks(&["at_least_once::lease_bound", "at_least_once::lease_redeliver"]),
        mutant("a late answer settles the new attempt", Flaw::LateAnswerSettles)
            .breaks(&["at_least_once::lease_bound", "at_least_once::lease_redeliver"])
            .also(
                &["at_least_once::settle_refused", "at_least_once::stale_settle_is_refused"],
                "an answer after a retire is late, too",
            ),
        mutant("a lease is extended under `Redeliver`, too", Flaw::ExtendsAnyway)
            .breaks(&["at_least_once::lease_redeliver"])
            .also(&["at_least_once::stale_settle_is_refused"], "its old token comes of a lease under `Redeliver`"),
    ]
}
