//! Memory with faults that a test switches on.

use std::{
    collections::HashMap,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::sync::watch;
use tramline::{
    Event, Memory, Name, Subject,
    backend::memory::{MemoryDurableSource, MemorySession, MemorySource},
    capabilities,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery, DeliversAtLeastOnce,
        DeliversAtMostOnce, FailsWhenFull, KeepsForHandler, Lease, MatchesPatterns, OpenError, PublishError,
        QueuePlace, RetireReason, Session, ShedsNewest, ShedsOldest, SourceId, SourceStats, SubscribeError, Volatile,
    },
};

use crate::faulty_source::FaultySource;

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
    pub(crate) subscribe: Mutex<HashMap<String, Answer>>,
    /// Ends the source that is open, with a cause.
    pub(crate) ends: Mutex<HashMap<String, watch::Sender<bool>>>,
    /// What each source counts as interruptions.
    pub(crate) interruptions: AtomicU64,
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

pub(crate) async fn answer(answer: Answer) -> Result<(), String> {
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
pub(crate) struct Alive(Arc<Faults>, fn(&Faults) -> &AtomicUsize);

impl Alive {
    pub(crate) fn new(faults: &Arc<Faults>, gauge: fn(&Faults) -> &AtomicUsize) -> Self {
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
    type Source = FaultySource<MemorySource>;

    async fn at_most_once(session: &FaultySession, spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        let (name, id) = (spec.name.clone(), spec.id);
        session.subscribing(&name).await?;
        let inner = <Memory as DeliversAtMostOnce>::at_most_once(&session.inner, spec).await?;
        Ok(FaultySource::new(inner, name, id, &session.faults))
    }
}

impl DeliversAtLeastOnce for Faulty {
    type Source = FaultySource<MemoryDurableSource>;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &FaultySession, spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        let (name, id) = (spec.name.clone(), spec.id);
        session.subscribing(&name).await?;
        let inner = <Memory as DeliversAtLeastOnce>::at_least_once(&session.inner, spec).await?;
        Ok(FaultySource::new(inner, name, id, &session.faults))
    }
}

impl FaultySession {
    async fn subscribing(&self, name: &Name) -> Result<(), SubscribeError> {
        let said = self.faults.subscribe.lock().unwrap().get(name.as_str()).copied().unwrap_or_default();
        answer(said).await.map_err(|why| SubscribeError::Unconfirmed { source: why.into() })
    }
}

impl KeepsForHandler for Faulty {}

impl DelaysRedelivery for Faulty {
    const LONGEST_DELAY: Option<Duration> = None;
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
