//! A source of memory's that ends itself when a test says so, and answers a retire as a test says.

use std::{
    future::pending,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll},
};

use tokio::sync::watch;
use tokio_stream::Stream;
use tramline::{
    Name,
    contract::{FinalReading, RetireError, RetireReason, Source, SourceControl, SourceId, SourceStats},
};

use crate::backends::{Alive, Faults, answer};

pub(crate) struct FaultySource<S> {
    inner: S,
    name: Name,
    faults: Arc<Faults>,
    ended: watch::Receiver<bool>,
}

pub(crate) struct FaultyDeliveries<D> {
    inner: D,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    handed_over: Arc<AtomicU64>,
    _alive: Alive,
}

pub(crate) struct FaultyControl<C> {
    inner: C,
    name: Name,
    faults: Arc<Faults>,
    ended: watch::Receiver<bool>,
    handed_over: Arc<AtomicU64>,
    _alive: Alive,
}

impl<S> FaultySource<S> {
    pub(crate) fn new(inner: S, name: Name, id: SourceId, faults: &Arc<Faults>) -> Self {
        faults.ids.lock().unwrap().push((name.clone(), id));
        let ends = watch::Sender::new(false);
        let ended = ends.subscribe();
        faults.ends.lock().unwrap().insert(name.to_string(), ends);
        Self { inner, name, faults: faults.clone(), ended }
    }
}

impl<S: Source> Source for FaultySource<S>
where
    S::Deliveries: Unpin,
{
    type Settler = S::Settler;
    type Deliveries = FaultyDeliveries<S::Deliveries>;
    type Control = FaultyControl<S::Control>;

    fn split(self) -> (Self::Deliveries, Self::Control) {
        let Self { inner, name, faults, ended } = self;
        let (deliveries, control) = inner.split();
        let alive = || Alive::new(&faults, |faults| &faults.halves);
        let mut end = ended.clone();
        let over = async move {
            if end.wait_for(|ended| *ended).await.is_err() {
                pending::<()>().await;
            }
        };
        let handed_over = Arc::<AtomicU64>::default();
        let deliveries = FaultyDeliveries {
            inner: deliveries,
            ended: Box::pin(over),
            handed_over: handed_over.clone(),
            _alive: alive(),
        };
        (deliveries, FaultyControl { inner: control, name, ended, handed_over, _alive: alive(), faults })
    }
}

impl<D: Stream + Unpin> Stream for FaultyDeliveries<D> {
    type Item = D::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended.as_mut().poll(cx).is_ready() {
            self.ended = Box::pin(async {});
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut self.inner).poll_next(cx);
        if let Poll::Ready(Some(_)) = polled {
            self.handed_over.fetch_add(1, SeqCst);
        }
        polled
    }
}

impl<C: SourceControl> SourceControl for FaultyControl<C> {
    fn snapshot(&self) -> SourceStats {
        self.interrupted(self.inner.snapshot())
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        let said = *self.faults.retire.lock().unwrap();
        answer(said).await.map_err(RetireError::new)?;
        self.faults.retired.lock().unwrap().push((self.name.clone(), reason));
        let mut reading = self.inner.retire(reason).await?;
        reading.stats = self.interrupted(reading.stats);
        let stats = reading.stats;
        let explained = self.handed_over.load(SeqCst) + stats.pending + stats.evicted;
        assert_eq!(stats.accepted, explained, "L2: {stats:?}");
        self.faults.readings.lock().unwrap().push((self.name.clone(), stats));
        let ended = *self.ended.borrow();
        Ok(if ended { reading.ended_by("the link died") } else { reading })
    }
}

impl<C> FaultyControl<C> {
    fn interrupted(&self, mut stats: SourceStats) -> SourceStats {
        stats.interruptions += self.faults.interruptions.load(SeqCst);
        stats
    }
}
