//! The rows about queues that live elsewhere, on a small broker behind a link, and each of its flaws.

use std::cell::Cell;

use tramline::{
    Subject,
    conformance::{Ability, Fixture},
};

use crate::{
    both_ways::Mutant,
    stores::depot::{Depot, Flaw},
};

thread_local! {
    static FLAW: Cell<Flaw> = const { Cell::new(Flaw::None) };
}

pub(crate) struct DepotFixture(Depot);

impl Fixture for DepotFixture {
    type Backend = Depot;

    async fn open(_namespace: &str) -> Self {
        Self(Depot::with(FLAW.get()))
    }

    fn backend(&self) -> Depot {
        self.0.clone()
    }

    async fn publish_foreign(&self, subject: &Subject) -> Ability {
        self.0.publish_foreign(subject);
        Ability::Done
    }

    async fn cut_link(&self) -> Ability {
        self.0.cut_links();
        Ability::Done
    }

    async fn delete_consumers(&self) -> Ability {
        self.0.delete_consumers();
        Ability::Done
    }
}

tramline::conformance! { volatile: DepotFixture }

/// The depot with one flaw, and the rows that see it.
fn mutant(name: &'static str, flaw: Flaw) -> Mutant {
    Mutant::new(name, suite, move || FLAW.set(flaw))
}

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("a source reads far ahead", Flaw::ReadsAhead)
            .breaks(&["at_least_once::no_second_queue"])
            .also(&["at_least_once::bound_backpressure"], "what it reads ahead is beyond its bound"),
        mutant("a source does not see that its link is gone", Flaw::CutIsNotSeen)
            .breaks(&["at_least_once::link_death_is_seen"]),
        mutant("a source whose link is gone ends without a cause", Flaw::CutHasNoCause)
            .breaks(&["at_least_once::link_death_is_seen"]),
        mutant("what a source had is gone with its link", Flaw::CutLosesWhatItHad)
            .breaks(&["at_least_once::link_death_is_seen"]),
        mutant("a source does not see that its consumer is gone", Flaw::DeletionIsNotSeen)
            .breaks(&["at_least_once::consumer_deleted_under_us"]),
        mutant("a foreign message is skipped", Flaw::SkipsForeign).breaks(&["at_least_once::malformed_is_counted"]),
        mutant("a foreign message ends the stream", Flaw::EndsAtForeign)
            .breaks(&["at_least_once::malformed_is_counted"]),
        mutant("a foreign message comes back without an end", Flaw::ForeignHasNoEnd)
            .breaks(&["at_least_once::malformed_is_counted"]),
    ]
}
