//! A source in memory behind a link, and the settler that can lose an acknowledgement on it.

use std::{
    fmt,
    num::NonZeroU32,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::{
    link::{Link, Linked},
    stage::Stage,
};
use crate::{
    backend::memory::{MemoryDurableSource, MemorySettler},
    contract::{
        AtLeastOnceSpec, FinalReading, Incoming, Outcome, RetireError, RetireReason, Settle, SettleError, Settlement,
        Source, SourceControl, SourceStats,
    },
    subject::Name,
};

/// What a subscription on a stand-in reads from.
pub struct StandInSource<S: Source, W = AsItIs> {
    deliveries: StandInDeliveries<S::Deliveries, W>,
    control: StandInControl<S::Control>,
}

impl<S: Source> StandInSource<S> {
    pub(super) fn new(source: S, link: Arc<Link>) -> Self {
        Self::wrapped(source, link, AsItIs)
    }
}

impl StandInSource<MemoryDurableSource, Kept> {
    pub(super) fn kept(
        source: MemoryDurableSource,
        link: Arc<Link>,
        spec: &AtLeastOnceSpec,
        longest: Option<Duration>,
        stage: Arc<Stage>,
    ) -> Self {
        let keeper = Keeper {
            stage,
            name: spec.name.clone(),
            max_deliver: spec.max_deliver,
            longest,
            shortened: Arc::new(AtomicU64::new(0)),
        };
        let shortened = keeper.shortened.clone();
        let mut source = Self::wrapped(source, link, Kept(Arc::new(keeper)));
        source.control.shortened = shortened;
        source
    }
}

impl<S: Source, W> StandInSource<S, W> {
    fn wrapped(source: S, link: Arc<Link>, wrap: W) -> Self {
        let (inner, control) = source.split();
        let cut = link.cut.clone().cancelled_owned();
        let control = StandInControl { linked: Arc::new(Linked { control, link }), shortened: Arc::default() };
        Self { deliveries: StandInDeliveries { inner, cut, ended: false, wrap }, control }
    }

    pub(super) fn linked(&self) -> &Arc<Linked<S::Control>> {
        &self.control.linked
    }
}

impl<S: Source, W: Wrap<S::Settler>> Source for StandInSource<S, W> {
    type Settler = W::Settler;
    type Deliveries = StandInDeliveries<S::Deliveries, W>;
    type Control = StandInControl<S::Control>;

    fn split(self) -> (Self::Deliveries, Self::Control) {
        (self.deliveries, self.control)
    }
}

impl<S: Source, W> fmt::Debug for StandInSource<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandInSource").finish_non_exhaustive()
    }
}

/// What becomes of a settler on its way through a stand-in. Implemented by [`AsItIs`] and [`Kept`], and by nobody else.
pub trait Wrap<S>: Send + 'static {
    /// The settler that the bus gets.
    type Settler: Settle;

    /// Wraps one.
    fn wrap(&self, incoming: Incoming<S>) -> Incoming<Self::Settler>;
}

/// Nothing: at most once there is nothing to settle, and a reply goes out as it is.
#[derive(Debug, Clone, Copy)]
pub struct AsItIs;

impl<S: Settle> Wrap<S> for AsItIs {
    type Settler = S;

    fn wrap(&self, incoming: Incoming<S>) -> Incoming<S> {
        incoming
    }
}

/// A [`StandInSettler`].
pub struct Kept(Arc<Keeper>);

impl Wrap<MemorySettler> for Kept {
    type Settler = StandInSettler;

    fn wrap(&self, Incoming { message, attempt, settler }: Incoming<MemorySettler>) -> Incoming<StandInSettler> {
        let settler = StandInSettler { inner: settler, attempt, keeper: self.0.clone() };
        Incoming { message, attempt, settler }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.0.name).finish()
    }
}

pin_project! {
    /// The deliveries of a source, until its link is cut.
    pub struct StandInDeliveries<D, W> {
        #[pin]
        inner: D,
        #[pin]
        cut: WaitForCancellationFutureOwned,
        ended: bool,
        wrap: W,
    }
}

impl<S, D: Stream<Item = Incoming<S>>, W: Wrap<S>> Stream for StandInDeliveries<D, W> {
    type Item = Incoming<W::Settler>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        *this.ended = *this.ended || this.cut.poll(cx).is_ready();
        if *this.ended {
            return Poll::Ready(None);
        }
        let next = ready!(this.inner.poll_next(cx));
        *this.ended = next.is_none();
        Poll::Ready(next.map(|incoming| this.wrap.wrap(incoming)))
    }
}

impl<D, W> fmt::Debug for StandInDeliveries<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandInDeliveries").finish_non_exhaustive()
    }
}

/// Reads the counters of a source, and ends it.
#[derive(Debug)]
pub struct StandInControl<C> {
    linked: Arc<Linked<C>>,
    shortened: Arc<AtomicU64>,
}

impl<C> StandInControl<C> {
    fn with_shortened(&self, stats: SourceStats) -> SourceStats {
        SourceStats { delay_shortened: stats.delay_shortened + self.shortened.load(Relaxed), ..stats }
    }
}

impl<C: SourceControl> SourceControl for StandInControl<C> {
    fn snapshot(&self) -> SourceStats {
        self.with_shortened(self.linked.control.snapshot())
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        let Linked { control, link } = &*self.linked;
        let FinalReading { stats, cause } = control.retire(reason).await?;
        link.cut.cancel();
        Ok(link.retired(FinalReading { stats: self.with_shortened(stats), cause }))
    }
}

/// What the settlers of one source have in common.
struct Keeper {
    stage: Arc<Stage>,
    name: Name,
    max_deliver: NonZeroU32,
    /// The longest delay that the backend in whose place this stands can hold.
    longest: Option<Duration>,
    shortened: Arc<AtomicU64>,
}

/// Settles one delivery, unless its acknowledgement [is to be lost](super::TestBus::redeliver_next).
pub struct StandInSettler {
    inner: MemorySettler,
    attempt: NonZeroU32,
    keeper: Arc<Keeper>,
}

impl Settle for StandInSettler {
    async fn settle(self, mut settlement: Settlement) -> Result<(), SettleError> {
        let Self { inner, attempt, keeper } = self;
        if settlement.outcome == Outcome::Acked && keeper.stage.loses_acknowledgement(&keeper.name) {
            settlement = Settlement::new(Outcome::Nacked);
        }
        let too_long = keeper.longest.filter(|longest| settlement.delay > *longest);
        if let Some(longest) = too_long {
            settlement = settlement.after(longest);
        }
        inner.settle(settlement).await?;
        let comes_back = settlement.outcome.comes_back(attempt, keeper.max_deliver);
        if comes_back && !settlement.delay.is_zero() {
            keeper.shortened.fetch_add(too_long.is_some().into(), Relaxed);
            if let Some(until) = Instant::now().checked_add(settlement.delay) {
                keeper.stage.hold(&keeper.name, until);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StandInSettler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandInSettler").field("attempt", &self.attempt).finish_non_exhaustive()
    }
}
