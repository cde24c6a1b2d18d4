//! A small store with leases: what is not settled in time is handed on. It keeps nothing.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroU32,
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
    Event, Subject, capabilities,
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, CloseError, DeliversAtLeastOnce, FinalReading, Incoming,
        KeepsForHandler, Lease, OpenError, Outcome, PublishError, QueuePlace, RetireError, RetireReason, Session,
        Settle, SettleError, Settlement, SlowHandler, Source, SourceControl, SourceStats, SubscribeError, Volatile,
    },
};

/// What is broken about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Flaw {
    #[default]
    None,
    /// Nobody extends a lease.
    NoHeartbeat,
    /// A lease is extended for ever.
    NoEnd,
    /// It is extended under `Redeliver`, too.
    ExtendsAnyway,
    /// An expiry is not counted.
    NotCounted,
    /// Messages are settled by what they are, not by their attempt.
    LateAnswerSettles,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Lessor(Flaw);

impl Lessor {
    pub(crate) const fn with(flaw: Flaw) -> Self {
        Self(flaw)
    }
}

pub(crate) struct LessorSession {
    /// By durable name; none once it is closed.
    identities: Mutex<Option<BTreeMap<String, Arc<Identity>>>>,
    flaw: Flaw,
}

#[derive(Debug)]
struct Identity {
    subject: Subject,
    spec: AtLeastOnceSpec,
    flaw: Flaw,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Letter>,
    /// By token: whose it is, until when, and what.
    leased: BTreeMap<u64, (u64, Instant, Letter)>,
    members: BTreeMap<u64, Member>,
    next: u64,
}

#[derive(Debug, Default)]
struct Member {
    handed_over: u64,
    stats: SourceStats,
    last: Option<SourceStats>,
    waker: Option<Waker>,
}

#[derive(Debug, Clone)]
struct Letter {
    event: Event,
    attempt: NonZeroU32,
}

impl Backend for Lessor {
    type Session = LessorSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Lessor);

    async fn open(&self) -> Result<LessorSession, OpenError> {
        Ok(LessorSession { identities: Mutex::new(Some(BTreeMap::new())), flaw: self.0 })
    }
}

impl Session for LessorSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let identities = lock(&self.identities);
        let identities = identities.as_ref().ok_or(PublishError::Closed)?;
        let reached: Vec<_> = identities.values().filter(|identity| identity.subject == *subject).collect();
        if let Some(full) = reached.iter().find(|identity| identity.is_full()) {
            lock(&full.inside).eldest().into_iter().for_each(|member| member.stats.refused += 1);
            return Err(PublishError::QueueFull { subscription: full.spec.name.clone(), event });
        }
        for identity in reached {
            let mut inside = lock(&identity.inside);
            inside.waiting.push_back(Letter { event: event.clone(), attempt: NonZeroU32::MIN });
            inside.wake();
        }
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        let identities = lock(&self.identities).take();
        identities.into_iter().flatten().for_each(|(_, identity)| identity.end());
        Ok(())
    }
}

impl DeliversAtLeastOnce for Lessor {
    type Source = LessorSource;

    const LEASE: Lease = Lease::Extendable;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &LessorSession, spec: AtLeastOnceSpec) -> Result<LessorSource, SubscribeError> {
        let subject = spec.pattern.as_subject().ok_or_else(|| SubscribeError::Setting {
            subscription: spec.name.clone(),
            setting: "pattern",
            value: spec.pattern.to_string(),
            fix: "name one whole subject".to_owned(),
        })?;
        let mut identities = lock(&session.identities);
        let identities = identities.as_mut().ok_or(SubscribeError::Closed)?;
        let fresh = Identity { subject, spec: spec.clone(), flaw: session.flaw, inside: Mutex::default() };
        let identity = identities.entry(spec.durable.to_string()).or_insert_with(|| Arc::new(fresh)).clone();
        let mut inside = lock(&identity.inside);
        inside.next += 1;
        let number = inside.next;
        inside.members.insert(number, Member::default());
        drop(inside);
        Ok(LessorSource { identity, number, expiry: None })
    }
}

impl KeepsForHandler for Lessor {}

impl Identity {
    /// How long a delivery is its receiver's: a heartbeat has the same effect as a longer lease.
    fn lease(&self) -> Duration {
        let granted = self.spec.ack_wait.unwrap_or(Duration::from_secs(30));
        match (self.spec.slow_handler, self.flaw) {
            (SlowHandler::ExtendLease { .. }, Flaw::NoHeartbeat) => granted,
            (SlowHandler::ExtendLease { .. }, Flaw::NoEnd) | (SlowHandler::Redeliver, Flaw::ExtendsAnyway) => {
                Duration::from_secs(3600)
            }
            (SlowHandler::ExtendLease { max_processing_time }, _) => max_processing_time,
            _ => granted,
        }
    }

    fn is_full(&self) -> bool {
        let inside = lock(&self.inside);
        inside.waiting.len() + inside.leased.len() >= self.spec.bound.get()
    }

    /// Hands on what was not settled in time; the time of the next expiry.
    fn expire(&self, inside: &mut Inside) -> Option<Instant> {
        let now = Instant::now();
        let over: Vec<u64> =
            inside.leased.iter().filter(|(_, (_, until, _))| *until <= now).map(|(token, _)| *token).collect();
        for token in over {
            if let Some((number, _, letter)) = inside.leased.remove(&token) {
                if let Some(member) = inside.members.get_mut(&number).filter(|_| self.flaw != Flaw::NotCounted) {
                    member.stats.lease_expired += 1;
                }
                self.judge(inside, number, letter, Outcome::Silent);
            }
        }
        inside.leased.values().map(|(_, until, _)| *until).min()
    }

    /// What becomes of a letter that is leased to nobody any more.
    fn judge(&self, inside: &mut Inside, number: u64, mut letter: Letter, outcome: Outcome) {
        match outcome {
            Outcome::Acked => return,
            Outcome::Returned => {}
            _ if letter.attempt >= self.spec.max_deliver => {
                if let Some(member) = inside.members.get_mut(&number) {
                    member.stats.exhausted += 1;
                }
                return;
            }
            _ => letter.attempt = letter.attempt.saturating_add(1),
        }
        inside.waiting.push_back(letter);
        inside.wake();
    }

    fn settle(&self, token: u64, id: &str, outcome: Outcome) -> bool {
        let mut inside = lock(&self.inside);
        self.expire(&mut inside);
        if self.flaw == Flaw::LateAnswerSettles && outcome == Outcome::Acked && !inside.leased.contains_key(&token) {
            inside.leased.retain(|_, (.., letter)| letter.event.id() != id);
            inside.waiting.retain(|letter| letter.event.id() != id);
        }
        let Some((number, _, letter)) = inside.leased.remove(&token) else { return false };
        self.judge(&mut inside, number, letter, outcome);
        true
    }

    fn leave(&self, number: u64) -> SourceStats {
        let mut inside = lock(&self.inside);
        let last = inside.stats(number);
        if let Some(member) = inside.members.get_mut(&number)
            && member.last.is_none()
        {
            member.last = Some(last);
            let own: Vec<u64> =
                inside.leased.iter().filter(|(_, (who, ..))| *who == number).map(|(token, _)| *token).collect();
            for (.., letter) in own.iter().filter_map(|token| inside.leased.remove(token)).collect::<Vec<_>>() {
                inside.waiting.push_back(letter);
            }
            inside.wake();
        }
        last
    }

    fn end(&self) {
        let numbers: Vec<u64> = lock(&self.inside).members.keys().copied().collect();
        numbers.into_iter().for_each(|number| _ = self.leave(number));
    }
}

impl Inside {
    fn wake(&mut self) {
        self.members.values_mut().filter_map(|member| member.waker.take()).for_each(Waker::wake);
    }

    /// The member that answers for what is not handed over.
    fn eldest(&mut self) -> Option<&mut Member> {
        self.members.values_mut().find(|member| member.last.is_none())
    }

    fn stats(&self, number: u64) -> SourceStats {
        let Some(member) = self.members.get(&number) else { return SourceStats::default() };
        let eldest = self.members.iter().find(|(_, member)| member.last.is_none()).map(|(number, _)| *number);
        let mut stats = member.stats;
        stats.pending = if eldest == Some(number) { self.waiting.len() as u64 } else { 0 };
        stats.accepted = member.handed_over + stats.pending;
        member.last.unwrap_or(stats)
    }
}

/// Both halves of a source.
pub(crate) struct LessorSource {
    identity: Arc<Identity>,
    number: u64,
    expiry: Option<Pin<Box<Sleep>>>,
}

impl Source for LessorSource {
    type Settler = LessorSettler;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self { identity: self.identity.clone(), number: self.number, expiry: None }, self)
    }
}

impl Stream for LessorSource {
    type Item = Incoming<LessorSettler>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let turn = ready!(poll_proceed(cx));
        let this = self.get_mut();
        loop {
            let mut inside = lock(&this.identity.inside);
            let expiry = this.identity.expire(&mut inside);
            let Inside { waiting, leased, members, next, .. } = &mut *inside;
            let Some(member) = members.get_mut(&this.number).filter(|member| member.last.is_none()) else {
                return Poll::Ready(None);
            };
            if let Some(letter) = waiting.pop_front() {
                turn.made_progress();
                member.handed_over += 1;
                *next += 1;
                leased.insert(*next, (this.number, Instant::now() + this.identity.lease(), letter.clone()));
                let settler = LessorSettler(Some((this.identity.clone(), *next, letter.event.id().to_owned())));
                let incoming = Incoming::new(this.identity.subject.clone(), letter.event, settler);
                return Poll::Ready(Some(incoming.attempt(letter.attempt)));
            }
            member.waker = Some(cx.waker().clone());
            drop(inside);
            this.expiry = expiry.map(|expiry| Box::pin(sleep_until(expiry)));
            match &mut this.expiry {
                Some(expiry) => ready!(expiry.as_mut().poll(cx)),
                None => return Poll::Pending,
            }
        }
    }
}

impl SourceControl for LessorSource {
    fn snapshot(&self) -> SourceStats {
        lock(&self.identity.inside).stats(self.number)
    }

    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(self.identity.leave(self.number)))
    }
}

/// Settles one delivery. Dropped, it gives the message back.
pub(crate) struct LessorSettler(Option<(Arc<Identity>, u64, String)>);

impl Settle for LessorSettler {
    async fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        let settled =
            self.0.take().is_some_and(|(identity, token, id)| identity.settle(token, &id, settlement.outcome));
        if settled { Ok(()) } else { Err(SettleError::new("the lease is over")) }
    }
}

impl Drop for LessorSettler {
    fn drop(&mut self) {
        if let Some((identity, token, id)) = self.0.take() {
            identity.settle(token, &id, Outcome::Returned);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
