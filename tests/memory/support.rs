//! What the tests have in common.

use std::{
    future::Future,
    num::NonZeroUsize,
    pin::pin,
    sync::atomic::{AtomicU32, Ordering},
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use tokio::task::unconstrained;
use tramline::{
    Event, Group, Name, Pattern, Subject,
    backend::memory::{Memory, MemoryDeliveries, MemorySession, MemorySource, MemorySourceControl},
    contract::{
        AtMostOnceSpec, Backend, DeliversAtMostOnce, FailsWhenFull, Overflow, PublishError, RetireReason, Session,
        Source, SourceControl, SourceId, SourceStats,
    },
    source,
};

/// Far more than anything here takes; only a hang gets there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it hangs")
}

pub(crate) async fn open() -> MemorySession {
    Memory::new().open().await.expect("memory opens")
}

/// What a test subscribes, in short.
#[derive(Clone)]
pub(crate) struct Sub {
    pub(crate) pattern: &'static str,
    pub(crate) name: &'static str,
    pub(crate) group: Option<&'static str>,
    pub(crate) bound: usize,
    pub(crate) overflow: Option<Overflow>,
}

pub(crate) fn sub(pattern: &'static str) -> Sub {
    Sub { pattern, name: pattern, group: None, bound: 256, overflow: None }
}

impl Sub {
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(crate) fn group(self, group: &'static str) -> Self {
        Self { group: Some(group), ..self }
    }

    pub(crate) fn bound(self, bound: usize) -> Self {
        Self { bound, ..self }
    }

    pub(crate) fn fails(self) -> Self {
        Self { overflow: Some(Overflow::Fail), ..self }
    }

    pub(crate) fn sheds_newest(self) -> Self {
        Self { overflow: Some(Overflow::ShedNewest), ..self }
    }

    pub(crate) fn sheds_oldest(self) -> Self {
        Self { overflow: Some(Overflow::ShedOldest), ..self }
    }

    pub(crate) fn spec(&self) -> AtMostOnceSpec {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let id = SourceId::new(1, NEXT.fetch_add(1, Ordering::Relaxed), 0);
        let name = Name::new(self.name).unwrap();
        let bound = NonZeroUsize::new(self.bound).unwrap();
        AtMostOnceSpec::new(id, name, Pattern::new(self.pattern).unwrap(), bound)
            .group(self.group.map(|group| Group::new(group).unwrap()))
            .overflow(self.overflow)
    }

    pub(crate) async fn on(&self, session: &MemorySession) -> Sink {
        Sink::new(Memory::at_most_once(session, self.spec()).await.expect("memory subscribes"))
    }
}

/// A source, as tests look at it.
pub(crate) struct Sink {
    pub(crate) deliveries: MemoryDeliveries,
    pub(crate) control: MemorySourceControl,
}

impl Sink {
    pub(crate) fn new(source: MemorySource) -> Self {
        let (deliveries, control) = source.split();
        Self { deliveries, control }
    }

    /// The next message's id, if one is there.
    pub(crate) fn try_next(&mut self) -> Option<String> {
        // Without a budget, or nothing at hand might only mean that it is another task's turn.
        let incoming = unconstrained(self.deliveries.next()).now_or_never()??;
        assert_eq!(incoming.attempt.get(), 1, "M1: at most once has one attempt");
        Some(incoming.message.expect("memory carries events only").event.id().to_owned())
    }

    /// The ids of everything that is there.
    pub(crate) fn drain(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.try_next()).collect()
    }

    /// Whether the stream has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(unconstrained(self.deliveries.next()).now_or_never(), Some(None))
    }

    pub(crate) fn stats(&self) -> SourceStats {
        let stats = self.control.snapshot();
        assert_eq!(stats.accepted, stats.handed_over() + stats.pending + stats.evicted, "L2: {stats:?}");
        stats
    }

    pub(crate) async fn retire(&self) -> SourceStats {
        let last = self.control.retire(RetireReason::Stopping).await.expect("memory retires");
        assert!(last.cause.is_none(), "a source that is retired has no cause");
        last.stats
    }

    /// Accepted, pending, refused, evicted.
    pub(crate) fn counts(&self) -> [u64; 4] {
        counts(self.stats())
    }
}

pub(crate) fn counts(stats: SourceStats) -> [u64; 4] {
    [stats.accepted, stats.pending, stats.refused, stats.evicted]
}

pub(crate) fn subject(text: &str) -> Subject {
    Subject::new(text).unwrap()
}

#[allow(clippy::needless_pass_by_value, reason = "shorter to call")]
pub(crate) fn event(id: impl ToString) -> Event {
    Event::builder(id.to_string(), source!("urn:test"), "test").build().unwrap()
}

pub(crate) async fn publish(session: &MemorySession, to: &str, id: impl ToString) -> Result<(), PublishError> {
    session.publish(&subject(to), event(id)).await
}

pub(crate) fn is_full(result: &Result<(), PublishError>, name: &str) -> bool {
    matches!(result, Err(PublishError::QueueFull { subscription, .. }) if *subscription == *name)
}

/// Publishes until it is in, waiting for room where it has to.
pub(crate) async fn publish_when_room(
    session: &MemorySession,
    to: &Subject,
    event: &Event,
) -> Result<(), PublishError> {
    Memory::publish_when_room(session, to, event.clone(), None).await
}

/// Whether the future is not ready at its first poll.
pub(crate) fn is_pending(future: impl Future) -> bool {
    matches!(pin!(future).poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
}
