//! Memory with faults that a test switches on.

use std::{
    collections::HashMap,
    future::pending,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::sync::watch;
use tokio_stream::Stream;
use tramline::{
    Event, Memory, Name, Subject,
    backend::memory::{MemoryDeliveries, MemorySession, MemorySource, MemorySourceControl},
    capabilities,
    contract::{
        AtMostOnceSpec, Backend, Capabilities, CloseError, DeliversAtMostOnce, FailsWhenFull, FinalReading, Incoming,
        MatchesPatterns, NothingToSettle, OpenError, PublishError, RetireError, RetireReason, Session, ShedsNewest,
        ShedsOldest, Source, SourceControl, SourceId, SourceStats, SubscribeError, Volatile,
    },
};

/// How the backend answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Fine,
    Refused,
    /// After a minute.
    RefusedLate,
    Never,
    Panics,
}

/// What a test sets and looks at.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) open: Mutex<Answer>,
    pub(crate) close: Mutex<Answer>,
    pub(crate) retire: Mutex<Answer>,
    pub(crate) publish: Mutex<Answer>,
    subscribe: Mutex<HashMap<String, Answer>>,
    /// Ends the source that is open, with a cause.
    ends: Mutex<HashMap<String, watch::Sender<bool>>>,
    /// Sessions that live.
    pub(crate) sessions: AtomicUsize,
    pub(crate) closes: AtomicUsize,
    /// Halves of sources that live.
    pub(crate) halves: AtomicUsize,
    pub(crate) ids: Mutex<Vec<(Name, SourceId)>>,
    pub(crate) retired: Mutex<Vec<(Name, RetireReason)>>,
    /// Every last reading.
    pub(crate) readings: Mutex<Vec<(Name, SourceStats)>>,
}

impl Faults {
    pub(crate) fn subscribe(&self, name: &str, answer: Answer) {
        self.subscribe.lock().unwrap().insert(name.to_owned(), answer);
    }

    /// The source of this subscription ends by itself.
    pub(crate) fn end(&self, name: &str) {
        self.ends.lock().unwrap()[name].send_replace(true);
    }

    /// How often a source was opened for this subscription.
    pub(crate) fn opened(&self, name: &str) -> usize {
        self.ids.lock().unwrap().iter().filter(|(known, _)| known.as_str() == name).count()
    }

    /// Nothing lives any more of what the backend had handed out.
    pub(crate) fn nothing_is_left(&self) -> bool {
        (self.sessions.load(SeqCst), self.halves.load(SeqCst)) == (0, 0)
    }
}

pub(crate) fn set(answer: &Mutex<Answer>, to: Answer) {
    *answer.lock().unwrap() = to;
}

async fn answer(answer: Answer) -> Result<(), String> {
    match answer {
        Answer::Fine => Ok(()),
        Answer::Refused => Err("the test says so".to_owned()),
        Answer::RefusedLate => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Err("the test says so".to_owned())
        }
        Answer::Never => pending().await,
        Answer::Panics => panic!("the backend panics"),
    }
}

/// Counts what lives.
struct Alive(Arc<Faults>, fn(&Faults) -> &AtomicUsize);

impl Alive {
    fn new(faults: &Arc<Faults>, gauge: fn(&Faults) -> &AtomicUsize) -> Self {
        gauge(faults).fetch_add(1, SeqCst);
        Self(faults.clone(), gauge)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.1(&self.0).fetch_sub(1, SeqCst);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Faulty(Arc<Faults>);

impl Faulty {
    pub(crate) fn new() -> (Self, Arc<Faults>) {
        let faults = Arc::<Faults>::default();
        (Self(faults.clone()), faults)
    }
}

pub(crate) struct FaultySession {
    inner: MemorySession,
    faults: Arc<Faults>,
    _alive: Alive,
}

impl Backend for Faulty {
    type Session = FaultySession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Faulty);

    async fn open(&self) -> Result<FaultySession, OpenError> {
        let said = *self.0.open.lock().unwrap();
        answer(said).await.map_err(|why| OpenError::Unreachable { source: why.into() })?;
        let inner = Memory::new().open().await?;
        Ok(FaultySession { inner, faults: self.0.clone(), _alive: Alive::new(&self.0, |faults| &faults.sessions) })
    }
}

impl Session for FaultySession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let said = *self.faults.publish.lock().unwrap();
        answer(said).await.map_err(|why| PublishError::Unconfirmed { source: why.into() })?;
        self.inner.publish(subject, event).await
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.faults.closes.fetch_add(1, SeqCst);
        let said = *self.faults.close.lock().unwrap();
        answer(said).await.map_err(CloseError::new)?;
        self.inner.close().await
    }
}

impl DeliversAtMostOnce for Faulty {
    type Source = FaultySource;

    async fn at_most_once(session: &FaultySession, spec: AtMostOnceSpec) -> Result<FaultySource, SubscribeError> {
        let (name, id) = (spec.name.clone(), spec.id);
        let said = session.faults.subscribe.lock().unwrap().get(name.as_str()).copied().unwrap_or_default();
        answer(said).await.map_err(|why| SubscribeError::Unconfirmed { source: why.into() })?;
        let inner = <Memory as DeliversAtMostOnce>::at_most_once(&session.inner, spec).await?;
        let faults = session.faults.clone();
        faults.ids.lock().unwrap().push((name.clone(), id));
        let ends = watch::Sender::new(false);
        let ended = ends.subscribe();
        faults.ends.lock().unwrap().insert(name.to_string(), ends);
        Ok(FaultySource { inner, name, faults, ended })
    }
}

impl ShedsNewest for Faulty {}
impl ShedsOldest for Faulty {}
impl MatchesPatterns for Faulty {}

impl FailsWhenFull for Faulty {
    async fn publish_when_room(
        session: &FaultySession,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> Result<(), PublishError> {
        Memory::publish_when_room(&session.inner, subject, event, within).await
    }
}

pub(crate) struct FaultySource {
    inner: MemorySource,
    name: Name,
    faults: Arc<Faults>,
    ended: watch::Receiver<bool>,
}

pub(crate) struct FaultyDeliveries {
    inner: MemoryDeliveries,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    handed_over: Arc<AtomicU64>,
    _alive: Alive,
}

pub(crate) struct FaultyControl {
    inner: MemorySourceControl,
    name: Name,
    faults: Arc<Faults>,
    ended: watch::Receiver<bool>,
    handed_over: Arc<AtomicU64>,
    _alive: Alive,
}

impl Source for FaultySource {
    type Settler = NothingToSettle;
    type Deliveries = FaultyDeliveries;
    type Control = FaultyControl;

    fn split(self) -> (FaultyDeliveries, FaultyControl) {
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

impl Stream for FaultyDeliveries {
    type Item = Incoming<NothingToSettle>;

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

impl SourceControl for FaultyControl {
    fn snapshot(&self) -> SourceStats {
        self.inner.snapshot()
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        let said = *self.faults.retire.lock().unwrap();
        answer(said).await.map_err(RetireError::new)?;
        self.faults.retired.lock().unwrap().push((self.name.clone(), reason));
        let reading = self.inner.retire(reason).await?;
        let stats = reading.stats;
        let explained = self.handed_over.load(SeqCst) + stats.pending + stats.evicted;
        assert_eq!(stats.accepted, explained, "L2: {stats:?}");
        self.faults.readings.lock().unwrap().push((self.name.clone(), stats));
        let ended = *self.ended.borrow();
        Ok(if ended { reading.ended_by("the link died") } else { reading })
    }
}

/// Memory that can do nothing but deliver at most once.
#[derive(Clone, Copy)]
pub(crate) struct Modest;

impl Backend for Modest {
    type Session = MemorySession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Modest);

    async fn open(&self) -> Result<MemorySession, OpenError> {
        Memory::new().open().await
    }
}

impl DeliversAtMostOnce for Modest {
    type Source = MemorySource;

    async fn at_most_once(session: &MemorySession, spec: AtMostOnceSpec) -> Result<MemorySource, SubscribeError> {
        <Memory as DeliversAtMostOnce>::at_most_once(session, spec).await
    }
}
