//! Memory with the hooks of a fault around it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::{FutureExt, Stream};
use tokio::task::yield_now;
use tramline::{
    Event, Memory, Subject,
    backend::memory::{MemoryDurableSource, MemoryRequests, MemorySession, MemorySource},
    capabilities,
    contract::{
        AnswersRequests, AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery,
        DeliversAtLeastOnce, DeliversAtMostOnce, FailsWhenFull, FinalReading, Incoming, KeepsForHandler, Lease,
        MatchesPatterns, NothingToSettle, OpenError, Orders, Outcome, PublishError, QueuePlace, RequestError,
        ResponderSpec, RetireError, RetireReason, RoutesAroundDegraded, Session, Settle, SettleError, Settlement,
        ShedsNewest, ShedsOldest, Source, SourceControl, SourceId, SourceStats, SubscribeError, Volatile,
    },
};

use super::{
    Arrival, Fault, Passes,
    replier::BrokenReplier,
    through::{Publish, Request},
};

pub(crate) struct Broken(pub(super) Arc<dyn Fault>);

pub(crate) struct BrokenSession {
    inside: MemorySession,
    fault: Arc<dyn Fault>,
}

impl Backend for Broken {
    type Session = BrokenSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Broken);

    async fn open(&self) -> Result<BrokenSession, OpenError> {
        self.0.opens();
        Ok(BrokenSession { inside: Memory::new().open().await?, fault: self.0.clone() })
    }
}

impl Session for BrokenSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        if let Some(first) = self.fault.first(subject, &event) {
            let _ = self.inside.publish(&first, event.clone()).await;
        }
        match self.fault.publishes(event)? {
            Some(event) => {
                let published = self.fault.carries(Publish { session: &self.inside, subject, event }).await;
                self.fault.published(published)
            }
            None => Ok(()),
        }
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.fault.closes(&self.inside).await
    }
}

impl DeliversAtMostOnce for Broken {
    type Source = BrokenSource<MemorySource>;

    async fn at_most_once(session: &BrokenSession, mut spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        let fault = session.fault.clone();
        fault.at_most_once(&mut spec);
        let id = spec.id;
        let inside = Memory::at_most_once(&session.inside, spec).await?;
        fault.subscribed(&session.inside).await;
        Ok(BrokenSource { inside, fault, id })
    }
}

impl DeliversAtLeastOnce for Broken {
    type Source = BrokenSource<MemoryDurableSource>;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &BrokenSession, mut spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        let fault = session.fault.clone();
        fault.at_least_once(&mut spec);
        let id = spec.id;
        let inside = Memory::at_least_once(&session.inside, spec).await?;
        fault.subscribed(&session.inside).await;
        Ok(BrokenSource { inside, fault, id })
    }
}

impl KeepsForHandler for Broken {}
impl MatchesPatterns for Broken {}
impl Orders for Broken {}
impl RoutesAroundDegraded for Broken {}
impl ShedsNewest for Broken {}
impl ShedsOldest for Broken {}

impl DelaysRedelivery for Broken {
    const LONGEST_DELAY: Option<Duration> = None;
}

impl FailsWhenFull for Broken {
    async fn publish_when_room(
        session: &BrokenSession,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> Result<(), PublishError> {
        if let Some(first) = session.fault.first(subject, &event) {
            let _ = session.inside.publish(&first, event.clone()).await;
        }
        Memory::publish_when_room(&session.inside, subject, event, session.fault.waits(within)).await
    }
}

impl AnswersRequests for Broken {
    type Requests = BrokenSource<MemoryRequests>;
    type Replier = BrokenReplier;

    async fn responder(session: &BrokenSession, mut spec: ResponderSpec) -> Result<Self::Requests, SubscribeError> {
        let fault = session.fault.clone();
        fault.responds(&mut spec);
        let id = spec.id;
        Ok(BrokenSource { inside: Memory::responder(&session.inside, spec).await?, fault, id })
    }

    async fn request(
        session: &BrokenSession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        session.fault.requests(Request { session: &session.inside, subject, event, within }).await
    }

    fn unclaimed(session: &BrokenSession) -> u64 {
        session.fault.unclaimed(Memory::unclaimed(&session.inside))
    }
}

pub(crate) struct BrokenSource<S> {
    inside: S,
    fault: Arc<dyn Fault>,
    id: SourceId,
}

pub(crate) struct BrokenDeliveries<D, S> {
    inside: D,
    fault: Arc<dyn Fault>,
    id: SourceId,
    arrived: u64,
    /// Put off until the next one has passed.
    later: Option<Incoming<S>>,
    /// What was put off, now that the next one has passed.
    due: Option<Incoming<S>>,
    ahead: Option<Incoming<S>>,
    again: Option<Incoming<S>>,
    counts: Arc<Counts>,
}

/// What memory does not know of, so that a fault in the one thing is none in the counters.
#[derive(Default)]
struct Counts {
    /// Taken from memory's source, and not handed over yet.
    held: AtomicU64,
    /// Handed over again.
    again: AtomicU64,
}

pub(crate) struct BrokenControl<C> {
    inside: C,
    fault: Arc<dyn Fault>,
    counts: Arc<Counts>,
    begun: AtomicBool,
    retired: AtomicU64,
}

impl<S: Source> Source for BrokenSource<S>
where
    S::Deliveries: Unpin,
    S::Settler: Settling,
{
    type Settler = <S::Settler as Settling>::Broken;
    type Deliveries = BrokenDeliveries<S::Deliveries, Self::Settler>;
    type Control = BrokenControl<S::Control>;

    fn split(self) -> (Self::Deliveries, Self::Control) {
        let Self { inside, fault, id } = self;
        let (deliveries, control) = inside.split();
        let counts = Arc::new(Counts::default());
        let deliveries = BrokenDeliveries {
            inside: deliveries,
            fault: fault.clone(),
            id,
            arrived: 0,
            later: None,
            due: None,
            ahead: None,
            again: None,
            counts: counts.clone(),
        };
        (
            deliveries,
            BrokenControl { inside: control, fault, counts, begun: AtomicBool::new(false), retired: AtomicU64::new(0) },
        )
    }
}

impl<D: Stream<Item = Incoming<S>> + Unpin, S: Settling> BrokenDeliveries<D, S::Broken> {
    fn arrival(&mut self, cx: &mut Context<'_>) -> Poll<Option<Incoming<S::Broken>>> {
        loop {
            if let Some(due) = self.due.take() {
                return Poll::Ready(Some(due));
            }
            let Some(incoming) = ready!(Pin::new(&mut self.inside).poll_next(cx)) else { return Poll::Ready(None) };
            let (mut message, mut attempt) = (incoming.message.expect("memory carries events"), incoming.attempt);
            let nth = self.arrived;
            self.arrived += 1;
            let mut arrival = Arrival {
                nth,
                source: self.id,
                subject: &mut message.subject,
                event: &mut message.event,
                attempt: &mut attempt,
            };
            let passes = self.fault.arrives(&mut arrival);
            let another = || Some(Incoming::of(message.clone(), S::another()?).attempt(attempt.saturating_add(1)));
            match passes {
                Passes::Never => {
                    incoming.settler.lose();
                    continue;
                }
                Passes::Again => self.again = another(),
                Passes::Once | Passes::Later => {}
            }
            let incoming = Incoming::of(message, incoming.settler.broken(&self.fault)).attempt(attempt);
            if passes == Passes::Later {
                self.later = Some(incoming);
            } else {
                self.due = self.later.take();
                return Poll::Ready(Some(incoming));
            }
        }
    }
}

impl<D: Stream<Item = Incoming<S>> + Unpin, S: Settling> Stream for BrokenDeliveries<D, S::Broken> {
    type Item = Incoming<S::Broken>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let mut next = match this.ahead.take() {
            Some(ahead) => Poll::Ready(Some(ahead)),
            None => this.arrival(cx),
        };
        if let Poll::Ready(Some(_)) = next
            && this.fault.reads_ahead()
            && let Poll::Ready(ahead) = this.arrival(cx)
        {
            this.ahead = ahead;
        }
        if next.is_pending()
            && let Some(again) = this.again.take()
        {
            this.counts.again.fetch_add(1, SeqCst);
            next = Poll::Ready(Some(again));
        }
        let held = [&this.later, &this.due, &this.ahead].into_iter().flatten().count();
        this.counts.held.store(held as u64, SeqCst);
        next
    }
}

impl<C: SourceControl> BrokenControl<C> {
    fn counts(&self, mut stats: SourceStats) -> SourceStats {
        stats.pending += self.counts.held.load(SeqCst);
        stats.accepted += self.counts.again.load(SeqCst);
        self.fault.counts(stats)
    }
}

impl<C: SourceControl> SourceControl for BrokenControl<C> {
    fn snapshot(&self) -> SourceStats {
        self.counts(self.inside.snapshot())
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        if self.fault.retires_once() && self.retired.load(SeqCst) == 0 {
            if self.begun.swap(true, SeqCst) {
                return Err(RetireError::new("it is being retired"));
            }
            yield_now().await;
        }
        let mut last = self.inside.retire(reason).await?;
        last.stats = self.counts(last.stats);
        self.fault.retired(self.retired.fetch_add(1, SeqCst), &mut last);
        Ok(last)
    }
}

/// A settler of memory's, and what it is on a broken backend: at most once there is nothing to break.
pub(crate) trait Settling: Settle {
    type Broken: Settle + Unpin;

    fn broken(self, fault: &Arc<dyn Fault>) -> Self::Broken;

    /// One more, where there is nothing to settle.
    fn another() -> Option<Self::Broken> {
        None
    }

    /// Nobody gets the message, now or later.
    fn lose(self)
    where
        Self: Sized,
    {
        let lost = self.settle(Settlement::new(Outcome::Acked)).now_or_never();
        assert!(lost.is_some_and(|settled| settled.is_ok()), "memory settles at once");
    }
}

impl Settling for NothingToSettle {
    type Broken = Self;

    fn broken(self, _fault: &Arc<dyn Fault>) -> Self {
        self
    }

    fn another() -> Option<Self> {
        Some(Self)
    }
}

impl Settling for tramline::backend::memory::MemorySettler {
    type Broken = BrokenSettler<Self>;

    fn broken(self, fault: &Arc<dyn Fault>) -> BrokenSettler<Self> {
        BrokenSettler { inside: self, fault: fault.clone() }
    }
}

pub(crate) struct BrokenSettler<S> {
    inside: S,
    fault: Arc<dyn Fault>,
}

impl<S: Settle> Settle for BrokenSettler<S> {
    async fn settle(self, settlement: Settlement) -> Result<(), SettleError> {
        self.inside.settle(self.fault.settles(settlement)).await
    }
}
