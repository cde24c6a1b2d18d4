//! Memory as a broker would be that can hold a message back for so long and no longer.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tramline::{
    backend::memory::MemoryDurableSource,
    capabilities,
    conformance::Fixture,
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, DelaysRedelivery, DeliversAtLeastOnce, Lease, OpenError, QueuePlace,
        SettleError, Settlement, SourceStats, SubscribeError, Volatile,
    },
};

use super::{
    Fault, Hand,
    backend::{Broken, BrokenSession},
    source::BrokenSource,
};
use crate::both_ways::Mutant;

const LONGEST: Duration = Duration::from_millis(50);

pub(crate) fn mutants() -> Vec<Mutant> {
    let mutant = |name, ceiling| Mutant::new(name, suite, move || CEILING.set(ceiling));
    vec![
        mutant("cuts a delay without a word", Ceiling { counts: |_| 0, ..SOUND }).breaks(CEILING_ROW),
        mutant("counts a shortened delay twice", Ceiling { counts: |asked| 2 * (SOUND.counts)(asked), ..SOUND })
            .breaks(CEILING_ROW),
        mutant("counts a delay that it held", Ceiling { counts: |asked| u64::from(!asked.is_zero()), ..SOUND })
            .breaks(CEILING_ROW),
        mutant("holds a delay that it counts as shortened", Ceiling { holds: |asked| asked, ..SOUND })
            .breaks(CEILING_ROW),
    ]
}

const CEILING_ROW: &[&str] = &["at_least_once::delay_ceiling"];

/// What becomes of a delay.
#[derive(Clone, Copy)]
struct Ceiling {
    /// How long it is in truth.
    holds: fn(Duration) -> Duration,
    /// How many shortened delays it counts for, of those that were asked for.
    counts: fn(Duration) -> u64,
}

const SOUND: Ceiling = Ceiling { holds: |asked| asked.min(LONGEST), counts: |asked| u64::from(asked > LONGEST) };

thread_local! {
    /// The ceiling of this thread's backends. Each run has a thread and a runtime of its own.
    static CEILING: Cell<Ceiling> = const { Cell::new(SOUND) };
}

/// The ceiling, as what happens around memory.
struct Held {
    ceiling: Ceiling,
    shortened: AtomicU64,
}

impl Fault for Held {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let asked = settlement.delay;
        self.shortened.fetch_add((self.ceiling.counts)(asked), Relaxed);
        Some(hand.say(settlement.after((self.ceiling.holds)(asked))))
    }

    fn counts(&self, mut stats: SourceStats) -> SourceStats {
        stats.delay_shortened = self.shortened.load(Relaxed);
        stats
    }
}

pub(crate) struct Capped(Broken);

impl Backend for Capped {
    type Session = BrokenSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Capped);

    async fn open(&self) -> Result<BrokenSession, OpenError> {
        self.0.open().await
    }
}

impl DeliversAtLeastOnce for Capped {
    type Source = BrokenSource<MemoryDurableSource>;

    const LEASE: Lease = Broken::LEASE;
    const QUEUE: QueuePlace = <Broken as DeliversAtLeastOnce>::QUEUE;
    const RETURNS_ATTEMPT: bool = Broken::RETURNS_ATTEMPT;

    async fn at_least_once(session: &BrokenSession, spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        Broken::at_least_once(session, spec).await
    }
}

impl DelaysRedelivery for Capped {
    const LONGEST_DELAY: Option<Duration> = Some(LONGEST);
}

pub(crate) struct CappedFixture(Ceiling);

impl Fixture for CappedFixture {
    type Backend = Capped;

    async fn open(_namespace: &str) -> Self {
        Self(CEILING.get())
    }

    fn backend(&self) -> Capped {
        Capped(Broken(Arc::new(Held { ceiling: self.0, shortened: AtomicU64::new(0) })))
    }
}

// With its own ceiling it is green.
tramline::conformance! { volatile: CappedFixture }
