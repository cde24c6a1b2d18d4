//! The rows about restarts, on the smallest store that survives one, and each of its flaws.

use std::cell::Cell;

use tramline::conformance::{Ability, DurableFixture, Fixture};

use crate::{
    both_ways::Mutant,
    stores::archive::{Archive, Flaw},
};

thread_local! {
    static FLAW: Cell<Flaw> = const { Cell::new(Flaw::None) };
}

pub(crate) struct ArchiveFixture(Archive);

impl Fixture for ArchiveFixture {
    type Backend = Archive;

    async fn open(_namespace: &str) -> Self {
        Self(Archive::with(FLAW.get()))
    }

    fn backend(&self) -> Archive {
        self.0.clone()
    }
}

impl DurableFixture for ArchiveFixture {
    type Witness = u64;

    async fn witness(&self) -> u64 {
        self.0.incarnation()
    }

    async fn has_ended(&self, witness: &mut u64) -> bool {
        self.0.incarnation() != *witness
    }

    async fn restart(&mut self) {
        self.0.restart();
    }

    async fn crash(&mut self) -> Ability {
        self.0.crash();
        Ability::Done
    }
}

tramline::conformance! { surviving: ArchiveFixture }

/// The archive with one flaw, and the rows that see it.
fn mutant(name: &'static str, flaw: Flaw) -> Mutant {
    Mutant::new(name, suite, move || FLAW.set(flaw))
}

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("a restart loses the backlog", Flaw::LosesTheBacklog)
            .breaks(&["durable::backlog_survives"])
            .also(&["durable::identity_resumes", "durable::crash"], "they have a backlog, too"),
        mutant("a restart loses what is in hand", Flaw::LosesWhatIsInHand)
            .breaks(&["durable::in_hand_survives"])
            .also(&["durable::crash"], "it asks the same of a crash"),
        mutant("a restart resets the number of attempts", Flaw::ForgetsAttempts)
            .breaks(&["durable::restart_attempt", "durable::exhaustion_across_restart"])
            .also(&["durable::crash"], "it asks the same of a crash"),
        mutant("a restart brings back what was acknowledged", Flaw::ForgetsAcknowledgements)
            .breaks(&["durable::identity_resumes"])
            .also(&["durable::start_at_all"], "what it has replayed and acknowledged stays gone"),
        mutant("a restart forgets when a message is due", Flaw::ForgetsDelays)
            .breaks(&["durable::delay_across_restart"]),
        mutant("reopens an identity with other values", Flaw::ReopensSilently).breaks(&["durable::reopen_refused"]),
        mutant("names the new value twice", Flaw::NamesTheNewValueTwice).breaks(&["durable::reopen_refused"]),
        mutant("begins every identity at the oldest message", Flaw::BeginsAtTheBeginning)
            .breaks(&["durable::start_at_new"]),
        mutant("replays for nobody", Flaw::NeverReplays).breaks(&["durable::start_at_all"]),
        mutant("replays at each opening", Flaw::ReplaysEachTime).breaks(&["durable::start_at_all"]),
        mutant("the restart does nothing", Flaw::RestartIsNothing).breaks(&["durable::restart_is_real"]),
        mutant("a crash loses what was published last", Flaw::CrashLosesTheLast).breaks(&["durable::crash"]),
        mutant("identities on one pattern are one", Flaw::ThePatternIsTheIdentity)
            .breaks(&["durable::two_names_two_copies"])
            .also(
                &["at_least_once::fanout_every_subscriber", "at_least_once::competing_exactly_one"],
                "their subscribers are identities on one pattern",
            )
            .also(&["durable::reopen_refused"], "with another pattern it is another identity"),
    ]
}
