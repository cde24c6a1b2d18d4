//! The smallest store that truly survives a restart: what it owes is on a disk, and all else is forgotten.
//!
//! A [`Disk`] belongs to the fixture. Sessions are connected to one incarnation of the store; a restart ends it, and with
//! it every session, source and delivery in hand. It has no lease, matches whole subjects, and at an identity's bound it
//! tells the publisher.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::{NonZeroU32, NonZeroUsize},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use futures_util::Stream;
use tokio::{
    task::coop::poll_proceed,
    time::{Instant, Sleep, sleep_until},
};
use tramline::{
    DurableName, Event, Name, Pattern, Subject, capabilities,
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery, DeliversAtLeastOnce, FinalReading,
        Incoming, KeepsForHandler, Lease, OpenError, Outcome, Persistent, PublishError, QueuePlace, Replays,
        RetireError, RetireReason, Session, Settle, SettleError, Settlement, Source, SourceControl, SourceStats,
        StartAt, SubscribeError, SurvivesRestart,
    },
};

/// What is broken about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Flaw {
    #[default]
    None,
    /// A restart loses what is owed and was never handed over.
    LosesTheBacklog,
    /// A restart loses what was in hand.
    LosesWhatIsInHand,
    /// A restart resets the number of attempts.
    ForgetsAttempts,
    /// A restart brings back what was acknowledged.
    ForgetsAcknowledgements,
    /// A restart forgets when a message is due.
    ForgetsDelays,
    /// Nothing is refused when an identity is reopened.
    ReopensSilently,
    /// A refusal names the wrong one of the two values.
    NamesTheNewValueTwice,
    /// Every new identity begins at the oldest message.
    BeginsAtTheBeginning,
    /// No identity does.
    NeverReplays,
    /// `start_at` is applied at each opening.
    ReplaysEachTime,
    /// The restart does nothing at all.
    RestartIsNothing,
    /// A crash loses what was published last.
    CrashLosesTheLast,
    /// Identities on one pattern are one.
    ThePatternIsTheIdentity,
}

/// What survives: everything that was published, and what each identity is owed of it.
#[derive(Debug, Clone, Default)]
struct Disk {
    log: Vec<(Subject, Event)>,
    identities: BTreeMap<String, Identity>,
}

#[derive(Debug, Clone)]
struct Identity {
    name: Name,
    pattern: Pattern,
    start_at: StartAt,
    max_deliver: NonZeroU32,
    ack_wait: Option<Duration>,
    bound: NonZeroUsize,
    /// By its place in the log.
    owed: BTreeMap<usize, Owed>,
    acknowledged: BTreeSet<usize>,
}

#[derive(Debug, Clone, Default)]
struct Owed {
    /// How many attempts were judged.
    spent: u32,
    due: Option<Instant>,
}

/// What does not: who is connected, and who has what in hand.
#[derive(Debug, Default)]
struct Ram {
    /// Grows with each restart; who is connected to an older one is not connected.
    incarnation: u64,
    /// Sources by their numbers.
    sources: BTreeMap<u64, Reader>,
    /// The place in the log, and the source, of each delivery, by its token.
    in_hand: BTreeMap<u64, (u64, usize)>,
    next: u64,
}

#[derive(Debug)]
struct Reader {
    identity: String,
    session: u64,
    handed_over: u64,
    refused: u64,
    exhausted: u64,
    last: Option<SourceStats>,
    /// Ended by a restart.
    cut: bool,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct Store {
    disk: Disk,
    ram: Ram,
    flaw: Flaw,
}

/// A store, as its owner holds it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Archive(Arc<Mutex<Store>>);

impl Archive {
    pub(crate) fn with(flaw: Flaw) -> Self {
        Self(Arc::new(Mutex::new(Store { flaw, ..Store::default() })))
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the store and starts it again: the disk is all that is left.
    pub(crate) fn restart(&self) {
        let mut store = self.store();
        if store.flaw == Flaw::RestartIsNothing {
            return;
        }
        let Store { disk, ram, flaw } = &mut *store;
        for (key, identity) in &mut disk.identities {
            let in_hand = ram.held_by(key);
            match flaw {
                Flaw::LosesTheBacklog => identity.owed.retain(|place, owed| in_hand.contains(place) || owed.spent > 0),
                Flaw::LosesWhatIsInHand => identity.owed.retain(|place, _| !in_hand.contains(place)),
                Flaw::ForgetsAttempts => identity.owed.values_mut().for_each(|owed| owed.spent = 0),
                Flaw::ForgetsDelays => identity.owed.values_mut().for_each(|owed| owed.due = None),
                Flaw::ForgetsAcknowledgements => {
                    let back = std::mem::take(&mut identity.acknowledged);
                    identity.owed.extend(back.into_iter().map(|place| (place, Owed::default())));
                }
                _ => {}
            }
        }
        // What a source has counted is the client's, and outlives its connection.
        let live: Vec<u64> = ram.sources.iter().filter(|(_, reader)| reader.last.is_none()).map(|(n, _)| *n).collect();
        let last: Vec<SourceStats> = live.iter().map(|number| store.stats(*number)).collect();
        let ram = &mut store.ram;
        for (number, last) in live.into_iter().zip(last) {
            if let Some(reader) = ram.sources.get_mut(&number) {
                (reader.last, reader.cut) = (Some(last), true);
            }
        }
        ram.incarnation += 1;
        ram.in_hand.clear();
        store.wake();
    }

    /// Kills it.
    pub(crate) fn crash(&self) {
        let mut store = self.store();
        if store.flaw == Flaw::CrashLosesTheLast
            && let Some(last) = store.disk.log.len().checked_sub(1)
        {
            store.disk.log.pop();
            store.disk.identities.values_mut().for_each(|identity| _ = identity.owed.remove(&last));
        }
        drop(store);
        self.restart();
    }

    /// The incarnation that a bare connection is connected to.
    pub(crate) fn incarnation(&self) -> u64 {
        self.store().ram.incarnation
    }
}

impl Backend for Archive {
    type Session = ArchiveSession;
    type Storage = Persistent;

    const CAPABILITIES: Capabilities = capabilities!(Archive);

    async fn open(&self) -> Result<ArchiveSession, OpenError> {
        let mut store = self.store();
        store.ram.next += 1;
        Ok(ArchiveSession {
            archive: self.clone(),
            incarnation: store.ram.incarnation,
            number: store.ram.next,
            closed: Mutex::new(false),
        })
    }
}

impl KeepsForHandler for Archive {}
impl Replays for Archive {}
impl SurvivesRestart for Archive {}

impl DelaysRedelivery for Archive {
    const LONGEST_DELAY: Option<Duration> = None;
}

#[derive(Debug)]
pub(crate) struct ArchiveSession {
    archive: Archive,
    incarnation: u64,
    number: u64,
    closed: Mutex<bool>,
}

impl ArchiveSession {
    /// The store, if this session is still connected to it.
    fn store(&self) -> Option<MutexGuard<'_, Store>> {
        let closed = *self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let store = self.archive.store();
        (!closed && store.ram.incarnation == self.incarnation).then_some(store)
    }
}

impl Session for ArchiveSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let Some(mut store) = self.store() else { return Err(PublishError::Closed) };
        let Store { disk: Disk { log, identities }, ram, .. } = &mut *store;
        let reached = |identity: &Identity| identity.pattern.matches(subject);
        let full = |identity: &Identity| identity.owed.len() >= identity.bound.get();
        if let Some((key, identity)) = identities.iter().find(|(_, identity)| reached(identity) && full(identity)) {
            if let Some(reader) = ram.live(key).next() {
                reader.refused += 1;
            }
            return Err(PublishError::QueueFull { subscription: identity.name.clone(), event });
        }
        let place = log.len();
        log.push((subject.clone(), event));
        for identity in identities.values_mut().filter(|identity| reached(identity)) {
            identity.owed.insert(place, Owed::default());
        }
        store.wake();
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        if let Some(mut store) = self.store() {
            let own = store.ram.sources.iter().filter(|(_, reader)| reader.session == self.number);
            let own: Vec<u64> = own.map(|(number, _)| *number).collect();
            own.into_iter().for_each(|number| _ = store.leave(number, false));
            store.wake();
        }
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Ok(())
    }
}

impl DeliversAtLeastOnce for Archive {
    type Source = ArchiveSource;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &ArchiveSession, spec: AtLeastOnceSpec) -> Result<ArchiveSource, SubscribeError> {
        let Some(mut store) = session.store() else { return Err(SubscribeError::Closed) };
        let key = match store.flaw {
            Flaw::ThePatternIsTheIdentity => spec.pattern.to_string(),
            _ => spec.durable.to_string(),
        };
        let Store { disk: Disk { log, identities }, ram, flaw } = &mut *store;
        let known = identities.contains_key(&key);
        if let Some(identity) = identities.get(&key).filter(|_| *flaw != Flaw::ReopensSilently) {
            identity.is_the_one(&spec, *flaw)?;
        }
        let replays = match flaw {
            Flaw::BeginsAtTheBeginning => !known,
            Flaw::NeverReplays => false,
            Flaw::ReplaysEachTime => spec.start_at == StartAt::AllAvailable,
            _ => !known && spec.start_at == StartAt::AllAvailable,
        };
        let identity = identities.entry(key.clone()).or_insert_with(|| Identity::new(&spec));
        if replays {
            let selected = log.iter().enumerate().filter(|(_, (subject, _))| identity.pattern.matches(subject));
            identity.owed.extend(selected.map(|(place, _)| (place, Owed::default())));
        }
        ram.next += 1;
        let number = ram.next;
        ram.sources.insert(number, Reader::new(key, session.number));
        Ok(ArchiveSource { archive: session.archive.clone(), number, due: None })
    }
}

impl Identity {
    fn new(spec: &AtLeastOnceSpec) -> Self {
        Self {
            name: spec.name.clone(),
            pattern: spec.pattern.clone(),
            start_at: spec.start_at,
            max_deliver: spec.max_deliver,
            ack_wait: spec.ack_wait,
            bound: spec.bound,
            owed: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
        }
    }

    /// Refuses what differs, by its name and with both values (I4).
    fn is_the_one(&self, spec: &AtLeastOnceSpec, flaw: Flaw) -> Result<(), SubscribeError> {
        let fields = [
            ("pattern", self.pattern.to_string(), spec.pattern.to_string()),
            ("start_at", format!("{:?}", self.start_at), format!("{:?}", spec.start_at)),
            ("max_deliver", self.max_deliver.to_string(), spec.max_deliver.to_string()),
            ("ack_wait", format!("{:?}", self.ack_wait), format!("{:?}", spec.ack_wait)),
        ];
        let Some((field, existing, asked)) = fields.into_iter().find(|(_, existing, asked)| existing != asked) else {
            return Ok(());
        };
        let existing = if flaw == Flaw::NamesTheNewValueTwice { asked.clone() } else { existing };
        let durable: &DurableName = &spec.durable;
        Err(SubscribeError::Reopened { durable: durable.to_string(), field, existing, asked })
    }
}

impl Reader {
    const fn new(identity: String, session: u64) -> Self {
        Self { identity, session, handed_over: 0, refused: 0, exhausted: 0, last: None, cut: false, waker: None }
    }
}

impl Ram {
    /// What the sources of an identity have in hand, by its place in the log.
    fn held_by(&self, identity: &str) -> BTreeSet<usize> {
        let fellow = |who| self.sources.get(who).is_some_and(|reader| reader.identity == *identity);
        self.in_hand.values().filter(|(who, _)| fellow(who)).map(|(_, place)| *place).collect()
    }

    /// The sources of an identity that are live, the eldest first.
    fn live<'a>(&'a mut self, identity: &'a str) -> impl Iterator<Item = &'a mut Reader> + 'a {
        self.sources.values_mut().filter(move |reader| reader.identity == identity && reader.last.is_none())
    }
}

impl Store {
    /// Wakes every source: it looks for itself.
    fn wake(&mut self) {
        self.ram.sources.values_mut().filter_map(|reader| reader.waker.take()).for_each(Waker::wake);
    }

    /// The next delivery for a source: its token, its number, and what it is; or when one will be due.
    fn next(&mut self, number: u64) -> Result<(u64, NonZeroU32, Subject, Event), Option<Instant>> {
        let Self { disk, ram, .. } = self;
        let Some(key) = ram.sources.get(&number).map(|reader| reader.identity.clone()) else { return Err(None) };
        let Some(identity) = disk.identities.get(&key) else { return Err(None) };
        let in_hand = ram.held_by(&key);
        let now = Instant::now();
        let free = || identity.owed.iter().filter(|(place, _)| !in_hand.contains(place));
        let Some((place, owed)) = free().find(|(_, owed)| owed.due.is_none_or(|due| due <= now)) else {
            return Err(free().filter_map(|(_, owed)| owed.due).min());
        };
        let (subject, event) = disk.log[*place].clone();
        ram.next += 1;
        ram.in_hand.insert(ram.next, (number, *place));
        ram.sources.get_mut(&number).into_iter().for_each(|reader| reader.handed_over += 1);
        Ok((ram.next, NonZeroU32::MIN.saturating_add(owed.spent), subject, event))
    }

    fn settle(&mut self, token: u64, settlement: Settlement) -> bool {
        let Some((number, place)) = self.ram.in_hand.remove(&token) else { return false };
        let Some(reader) = self.ram.sources.get_mut(&number) else { return false };
        let Some(identity) = self.disk.identities.get_mut(&reader.identity) else { return false };
        let Some(owed) = identity.owed.get_mut(&place) else { return false };
        owed.due = (!settlement.delay.is_zero()).then(|| Instant::now() + settlement.delay);
        match settlement.outcome {
            Outcome::Acked => {
                identity.owed.remove(&place);
                identity.acknowledged.insert(place);
            }
            Outcome::Returned => {}
            _ => {
                owed.spent += 1;
                if owed.spent >= identity.max_deliver.get() {
                    identity.owed.remove(&place);
                    reader.exhausted += 1;
                }
            }
        }
        self.wake();
        true
    }

    /// A source leaves: what it has in hand is free again.
    fn leave(&mut self, number: u64, given_up: bool) -> SourceStats {
        let last = self.stats(number);
        if let Some(reader) = self.ram.sources.get_mut(&number) {
            let identity = reader.identity.clone();
            if reader.last.is_none() {
                reader.last = Some(last);
                self.ram.in_hand.retain(|_, (who, _)| *who != number);
                if given_up && self.ram.live(&identity).next().is_none() {
                    self.disk.identities.remove(&identity);
                }
            }
        }
        self.wake();
        last
    }

    fn stats(&self, number: u64) -> SourceStats {
        let mut stats = SourceStats::default();
        let Some(reader) = self.ram.sources.get(&number) else { return stats };
        if let Some(last) = reader.last {
            return last;
        }
        let fellows = |(_, other): &(&u64, &Reader)| other.identity == reader.identity && other.last.is_none();
        let eldest = self.ram.sources.iter().find(fellows).map(|(number, _)| *number);
        if eldest == Some(number)
            && let Some(identity) = self.disk.identities.get(&reader.identity)
        {
            stats.pending = identity.owed.len().saturating_sub(self.ram.held_by(&reader.identity).len()) as u64;
        }
        stats.accepted = reader.handed_over + stats.pending;
        stats.refused = reader.refused;
        stats.exhausted = reader.exhausted;
        stats
    }
}

/// Both halves of a source.
pub(crate) struct ArchiveSource {
    archive: Archive,
    number: u64,
    /// Fires when the next message is due.
    due: Option<Pin<Box<Sleep>>>,
}

impl Source for ArchiveSource {
    type Settler = ArchiveSettler;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self { archive: self.archive.clone(), number: self.number, due: None }, self)
    }
}

impl Stream for ArchiveSource {
    type Item = Incoming<ArchiveSettler>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let turn = ready!(poll_proceed(cx));
        let this = self.get_mut();
        loop {
            let mut store = this.archive.store();
            let live = store.ram.sources.get(&this.number).is_some_and(|reader| reader.last.is_none());
            if !live {
                return Poll::Ready(None);
            }
            match store.next(this.number) {
                Ok((token, attempt, subject, event)) => {
                    turn.made_progress();
                    let settler = ArchiveSettler(Some((this.archive.clone(), token)));
                    return Poll::Ready(Some(Incoming::new(subject, event, settler).attempt(attempt)));
                }
                Err(due) => {
                    if let Some(reader) = store.ram.sources.get_mut(&this.number) {
                        reader.waker = Some(cx.waker().clone());
                    }
                    drop(store);
                    this.due = due.map(|due| Box::pin(sleep_until(due)));
                    match &mut this.due {
                        Some(due) => ready!(due.as_mut().poll(cx)),
                        None => return Poll::Pending,
                    }
                }
            }
        }
    }
}

impl SourceControl for ArchiveSource {
    fn snapshot(&self) -> SourceStats {
        self.archive.store().stats(self.number)
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        let mut store = self.archive.store();
        let last = FinalReading::new(store.leave(self.number, reason == RetireReason::GivenUp));
        let cut = store.ram.sources.get(&self.number).is_some_and(|reader| reader.cut);
        Ok(if cut { last.ended_by("the store was restarted") } else { last })
    }
}

/// Settles one delivery. Dropped, it gives the message back.
pub(crate) struct ArchiveSettler(Option<(Archive, u64)>);

impl Settle for ArchiveSettler {
    async fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        let settled = self.0.take().is_some_and(|(archive, token)| archive.store().settle(token, settlement));
        if settled { Ok(()) } else { Err(SettleError::new("the delivery is not in hand any more")) }
    }
}

impl Drop for ArchiveSettler {
    fn drop(&mut self) {
        if let Some((archive, token)) = self.0.take() {
            archive.store().settle(token, Settlement::new(Outcome::Returned));
        }
    }
}
