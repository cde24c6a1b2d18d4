//! Sources that deliver at least once, as tests look at them.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use tokio::task::unconstrained;
use tramline::{
    DurableName, Name, Pattern,
    backend::memory::{Memory, MemoryDurableControl, MemoryDurableDeliveries, MemorySession, MemorySettler},
    contract::{
        AtLeastOnceSpec, DeliversAtLeastOnce, Incoming, Outcome, RetireReason, Settle, SettleError, Settlement, Source,
        SourceControl, SourceId, SourceStats, SubscribeError,
    },
};

use crate::support::{counts, soon};

/// What a test subscribes, in short.
#[derive(Clone)]
pub(crate) struct Durable {
    durable: &'static str,
    name: &'static str,
    pattern: &'static str,
    max_deliver: u32,
    bound: usize,
}

pub(crate) fn durable(durable: &'static str) -> Durable {
    Durable { durable, name: durable, pattern: "a", max_deliver: 5, bound: 256 }
}

impl Durable {
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(crate) fn pattern(self, pattern: &'static str) -> Self {
        Self { pattern, ..self }
    }

    pub(crate) fn max_deliver(self, max_deliver: u32) -> Self {
        Self { max_deliver, ..self }
    }

    pub(crate) fn bound(self, bound: usize) -> Self {
        Self { bound, ..self }
    }

    pub(crate) fn spec(&self) -> AtLeastOnceSpec {
        AtLeastOnceSpec::new(
            SourceId::new(1, 0, 0),
            Name::new(self.name).unwrap(),
            Pattern::new(self.pattern).unwrap(),
            DurableName::new(self.durable).unwrap(),
            NonZeroU32::new(self.max_deliver).unwrap(),
            NonZeroUsize::new(self.bound).unwrap(),
        )
    }

    pub(crate) async fn try_on(&self, session: &MemorySession) -> Result<Owing, SubscribeError> {
        Owing::open(session, self.spec()).await
    }

    pub(crate) async fn on(&self, session: &MemorySession) -> Owing {
        self.try_on(session).await.expect("memory subscribes")
    }
}

/// A source.
pub(crate) struct Owing {
    deliveries: MemoryDurableDeliveries,
    control: MemoryDurableControl,
}

/// One delivery.
pub(crate) struct Taken {
    pub(crate) id: String,
    pub(crate) attempt: u32,
    settler: MemorySettler,
}

impl Taken {
    fn of(incoming: Incoming<MemorySettler>) -> Self {
        let Incoming { message, attempt, settler, .. } = incoming;
        Self { id: message.expect("memory carries events only").event.id().to_owned(), attempt: attempt.get(), settler }
    }

    pub(crate) async fn settle(self, outcome: Outcome) -> Result<(), SettleError> {
        self.settler.settle(Settlement::new(outcome)).await
    }

    pub(crate) async fn after(self, outcome: Outcome, delay: Duration) {
        self.settler.settle(Settlement::new(outcome).after(delay)).await.expect("it is live");
    }
}

impl Owing {
    pub(crate) async fn open(session: &MemorySession, spec: AtLeastOnceSpec) -> Result<Self, SubscribeError> {
        let (deliveries, control) = Memory::at_least_once(session, spec).await?.split();
        Ok(Self { deliveries, control })
    }

    /// The next delivery, if one is there.
    pub(crate) fn take(&mut self) -> Option<Taken> {
        // Without a budget, or nothing at hand might only mean that it is another task's turn.
        unconstrained(self.deliveries.next()).now_or_never()?.map(Taken::of)
    }

    pub(crate) async fn next(&mut self) -> Taken {
        Taken::of(soon(self.deliveries.next()).await.expect("it is live"))
    }

    /// The same, however long it takes.
    pub(crate) async fn next_patiently(&mut self) -> Taken {
        Taken::of(self.deliveries.next().await.expect("it is live"))
    }

    /// Event and attempt of everything that is there. It is given back after that, all of it.
    pub(crate) fn drain(&mut self) -> Vec<(String, u32)> {
        let taken: Vec<_> = std::iter::from_fn(|| self.take()).collect();
        taken.iter().map(|taken| (taken.id.clone(), taken.attempt)).collect()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(unconstrained(self.deliveries.next()).now_or_never(), Some(None))
    }

    pub(crate) fn stats(&self) -> SourceStats {
        let stats = self.control.snapshot();
        assert_eq!(stats.accepted, stats.handed_over() + stats.pending + stats.evicted, "L2: {stats:?}");
        stats
    }

    pub(crate) async fn retire(&self, reason: RetireReason) -> SourceStats {
        let last = self.control.retire(reason).await.expect("memory retires");
        assert!(last.cause.is_none(), "a source that is retired has no cause");
        last.stats
    }

    /// Accepted, pending, refused, evicted.
    pub(crate) fn counts(&self) -> [u64; 4] {
        counts(self.stats())
    }
}

/// What the future says at its first poll.
pub(crate) fn is_ready<F: Future>(future: F) -> F::Output {
    future.now_or_never().expect("promptly")
}
