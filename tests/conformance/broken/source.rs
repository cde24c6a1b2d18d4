//! A source of memory's with the hooks of a fault around it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};
use tramline::contract::{
    FinalReading, Incoming, Malformed, RetireError, RetireReason, Source, SourceControl, SourceId, SourceStats,
};

use super::{
    Arrival, Fault, Passes,
    hand::Settling,
    through::{Retire, Retired},
};

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
    shut: Pin<Box<Sleep>>,
    counts: Arc<Counts>,
}

pub(crate) struct BrokenControl<C> {
    inside: C,
    fault: Arc<dyn Fault>,
    id: SourceId,
    counts: Arc<Counts>,
    retired: AtomicU64,
}

/// What memory does not know of, so that a fault in the one thing is none in the counters.
#[derive(Default)]
struct Counts {
    /// Taken from memory's source, and not handed over yet.
    held: AtomicU64,
    /// Handed over again.
    again: AtomicU64,
}

impl<S> BrokenSource<S> {
    pub(super) fn new(inside: S, fault: &Arc<dyn Fault>, id: SourceId) -> Self {
        Self { inside, fault: fault.clone(), id }
    }
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
            shut: Box::pin(sleep(Duration::ZERO)),
            counts: counts.clone(),
        };
        (deliveries, BrokenControl { inside: control, fault, id, counts, retired: AtomicU64::new(0) })
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
                Passes::Once | Passes::Later | Passes::Malformed => {}
            }
            let settler = incoming.settler.broken(&self.fault, self.id, message.event.id(), incoming.attempt.get());
            let incoming = match passes {
                Passes::Malformed => Incoming::malformed(Malformed::new("no event at all"), settler),
                _ => Incoming::of(message, settler),
            };
            let incoming = incoming.attempt(attempt);
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
        if let Some(until) = this.fault.shut_until().filter(|until| *until > Instant::now()) {
            this.shut.as_mut().reset(until);
            ready!(this.shut.as_mut().poll(cx));
        }
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
        let inside = |reason| -> Retired<'_> {
            Box::pin(async move {
                let mut last = self.inside.retire(reason).await?;
                last.stats = self.counts(last.stats);
                Ok(last)
            })
        };
        let before = self.retired.load(SeqCst);
        let retire = Retire { source: self.id, reason, before, inside: Box::new(inside) };
        let last = self.fault.retires(retire).await?;
        self.retired.fetch_add(1, SeqCst);
        Ok(last)
    }
}
