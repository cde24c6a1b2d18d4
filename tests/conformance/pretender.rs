//! Memory wrapped to claim that it survives a restart: the rows about restarts are red on it.

use std::time::Duration;

use tramline::{
    Event, Memory, Subject,
    backend::memory::{MemoryDurableSource, MemorySession},
    capabilities,
    conformance::{Ability, DurableFixture, Fixture},
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery, DeliversAtLeastOnce, KeepsForHandler,
        Lease, OpenError, Persistent, PublishError, QueuePlace, Replays, Session, SubscribeError, SurvivesRestart,
    },
};

use crate::both_ways::Mutant;

pub(crate) struct Pretender;

pub(crate) struct PretenderSession(MemorySession);

impl Backend for Pretender {
    type Session = PretenderSession;
    type Storage = Persistent;

    const CAPABILITIES: Capabilities = capabilities!(Pretender);

    async fn open(&self) -> Result<PretenderSession, OpenError> {
        Ok(PretenderSession(Memory::new().open().await?))
    }
}

impl Session for PretenderSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        self.0.publish(subject, event).await
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.0.close().await
    }
}

impl DeliversAtLeastOnce for Pretender {
    type Source = MemoryDurableSource;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(
        session: &PretenderSession,
        spec: AtLeastOnceSpec,
    ) -> Result<MemoryDurableSource, SubscribeError> {
        Memory::at_least_once(&session.0, spec).await
    }
}

impl KeepsForHandler for Pretender {}
impl Replays for Pretender {}
impl SurvivesRestart for Pretender {}

impl DelaysRedelivery for Pretender {
    const LONGEST_DELAY: Option<Duration> = None;
}

struct PretenderFixture;

impl Fixture for PretenderFixture {
    type Backend = Pretender;

    async fn open(_namespace: &str) -> Self {
        Self
    }

    fn backend(&self) -> Pretender {
        Pretender
    }
}

/// Each session is a world of its own, so opening another one is all that a restart is.
impl DurableFixture for PretenderFixture {
    type Witness = ();

    async fn witness(&self) {}

    async fn has_ended(&self, _witness: &mut ()) -> bool {
        true
    }

    async fn restart(&mut self) {}

    async fn crash(&mut self) -> Ability {
        Ability::Done
    }
}

/// The suite alone: its tests would be red.
mod entry {
    use super::PretenderFixture;

    tramline::__conformance_rows! { __conformance_suite (PretenderFixture) surviving }
}

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![Mutant::new("memory that claims to survive", entry::suite, || {}).breaks(&[
        "durable::backlog_survives",
        "durable::restart_attempt",
        "durable::identity_resumes",
        "durable::reopen_refused",
        "durable::start_at_all",
        "durable::exhaustion_across_restart",
        "durable::in_hand_survives",
        "durable::crash",
        "durable::delay_across_restart",
    ])]
}
