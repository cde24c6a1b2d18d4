//! Memory with the hooks of a fault around it.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};
use tramline::{
    Event, Memory, Subject,
    backend::memory::{MemoryDurableSource, MemorySession, MemorySource},
    capabilities,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery, DeliversAtLeastOnce,
        DeliversAtMostOnce, FailsWhenFull, FinalReading, Incoming, KeepsForHandler, Lease, MatchesPatterns, OpenError,
        Orders, PublishError, QueuePlace, RetireError, RetireReason, RoutesAroundDegraded, Session, ShedsNewest,
        ShedsOldest, Source, SourceControl, SourceId, SourceStats, SubscribeError, Volatile,
    },
};

use super::{Arrival, Fault, Passes, hand::Settling};

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
        Ok(BrokenSession { inside: Memory::new().open().await?, fault: self.0.clone() })
    }
}

impl Session for BrokenSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        if let Some(first) = self.fault.first(subject, &event) {
            let _ = self.inside.publish(&first, event.clone()).await;
        }
        match self.fault.publishes(event)? {
            Some(event) => self.fault.published(self.inside.publish(subject, event).await),
            None => Ok(()),
        }
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.fault.closes();
        self.inside.close().await
    }
}

impl DeliversAtMostOnce for Broken {
    type Source = BrokenSource<MemorySource>;

    async fn at_most_once(session: &BrokenSession, mut spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        let (fault, id) = (session.fault.clone(), spec.id);
        fault.at_most_once(&mut spec);
        Ok(BrokenSource { inside: Memory::at_most_once(&session.inside, spec).await?, fault, id })
    }
}

impl DeliversAtLeastOnce for Broken {
    type Source = BrokenSource<MemoryDurableSource>;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &BrokenSession, mut spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        let (fault, id) = (session.fault.clone(), spec.id);
        fault.at_least_once(&mut spec);
        Ok(BrokenSource { inside: Memory::at_least_once(&session.inside, spec).await?, fault, id })
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

pub(crate) struct BrokenSource<S> {
    inside: S,
    fault: Arc<dyn Fault>,
    id: SourceId,
}

pub(crate) struct BrokenDeliveries<D> {
    inside: D,
    fault: Arc<dyn Fault>,
    id: SourceId,
    arrived: u64,
    shut: Pin<Box<Sleep>>,
}

pub(crate) struct BrokenControl<C> {
    inside: C,
    fault: Arc<dyn Fault>,
    id: SourceId,
}

impl<S: Source> Source for BrokenSource<S>
where
    S::Deliveries: Unpin,
    S::Settler: Settling,
{
    type Settler = <S::Settler as Settling>::Broken;
    type Deliveries = BrokenDeliveries<S::Deliveries>;
    type Control = BrokenControl<S::Control>;

    fn split(self) -> (Self::Deliveries, Self::Control) {
        let Self { inside, fault, id } = self;
        let (deliveries, control) = inside.split();
        let deliveries = BrokenDeliveries {
            inside: deliveries,
            fault: fault.clone(),
            id,
            arrived: 0,
            shut: Box::pin(sleep(Duration::ZERO)),
        };
        (deliveries, BrokenControl { inside: control, fault, id })
    }
}

impl<D: Stream<Item = Incoming<S>> + Unpin, S: Settling> Stream for BrokenDeliveries<D> {
    type Item = Incoming<S::Broken>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(until) = this.fault.shut_until().filter(|until| *until > Instant::now()) {
            this.shut.as_mut().reset(until);
            ready!(this.shut.as_mut().poll(cx));
        }
        loop {
            let Some(incoming) = ready!(Pin::new(&mut this.inside).poll_next(cx)) else { return Poll::Ready(None) };
            let (mut message, mut attempt) = (incoming.message.expect("memory carries events"), incoming.attempt);
            let nth = this.arrived;
            this.arrived += 1;
            let mut arrival = Arrival {
                nth,
                source: this.id,
                subject: &mut message.subject,
                event: &mut message.event,
                attempt: &mut attempt,
            };
            match this.fault.arrives(&mut arrival) {
                Passes::Never => incoming.settler.lose(),
                Passes::Once => {
                    let settler =
                        incoming.settler.broken(&this.fault, this.id, message.event.id(), incoming.attempt.get());
                    return Poll::Ready(Some(Incoming::of(message, settler).attempt(attempt)));
                }
            }
        }
    }
}

impl<C: SourceControl> SourceControl for BrokenControl<C> {
    fn snapshot(&self) -> SourceStats {
        self.fault.counts(self.inside.snapshot())
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        let mut last = self.inside.retire(self.fault.retires(self.id, reason)).await?;
        last.stats = self.fault.counts(last.stats);
        Ok(last)
    }
}
