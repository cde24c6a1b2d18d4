//! A small broker behind a link that can be cut: the queue lives there, and a source has a window of it. It keeps nothing
//! once its owner drops it.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroU32,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use futures_util::Stream;
use tokio::task::coop::poll_proceed;
use tramline::{
    Event, Subject, capabilities,
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, CloseError, DeliversAtLeastOnce, FinalReading, Incoming,
        KeepsForHandler, Lease, Malformed, OpenError, Outcome, PublishError, QueuePlace, RetireError, RetireReason,
        Session, Settle, SettleError, Settlement, Source, SourceControl, SourceStats, SubscribeError, Volatile,
    },
};

/// What is broken about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Flaw {
    #[default]
    None,
    /// A source takes far more than its bound.
    ReadsAhead,
    /// A source does not see that its link is gone.
    CutIsNotSeen,
    /// It ends, and does not say why.
    CutHasNoCause,
    /// What it had is gone with the link.
    CutLosesWhatItHad,
    /// A source does not see that its consumer is gone.
    DeletionIsNotSeen,
    /// A foreign message is skipped without a count.
    SkipsForeign,
    /// A foreign message ends the stream.
    EndsAtForeign,
    /// A foreign message comes back without an end.
    ForeignHasNoEnd,
}

/// The broker, as its owner holds it; also the backend, whose link is remade at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Depot {
    broker: Arc<Mutex<Broker>>,
    flaw: Flaw,
}

#[derive(Debug, Default)]
struct Broker {
    consumers: BTreeMap<String, Consumer>,
    links: BTreeMap<u64, Link>,
    next: u64,
}

#[derive(Debug)]
struct Consumer {
    subject: Subject,
    max_deliver: NonZeroU32,
    waiting: VecDeque<Letter>,
}

/// One source's part in a consumer.
#[derive(Debug)]
struct Link {
    consumer: String,
    session: u64,
    bound: usize,
    window: VecDeque<Letter>,
    /// By token.
    in_hand: BTreeMap<u64, Letter>,
    handed_over: u64,
    exhausted: u64,
    last: Option<FinalReading>,
    waker: Option<Waker>,
}

#[derive(Debug, Clone)]
struct Letter {
    /// The event, or bytes of somebody who knows nothing of events.
    body: Result<Event, &'static str>,
    attempt: NonZeroU32,
}

impl Depot {
    pub(crate) fn with(flaw: Flaw) -> Self {
        Self { flaw, ..Self::default() }
    }

    fn broker(&self) -> MutexGuard<'_, Broker> {
        self.broker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message that is no event where an event would be.
    pub(crate) fn publish_foreign(&self, subject: &Subject) {
        let mut broker = self.broker();
        broker.put(subject, &Letter { body: Err("no event at all"), attempt: NonZeroU32::MIN });
        broker.push(self.flaw);
    }

    /// Ends every link; each is made again by whoever wants one.
    pub(crate) fn cut_links(&self) {
        let mut broker = self.broker();
        let live: Vec<u64> = broker.live().collect();
        for number in live {
            match self.flaw {
                Flaw::CutIsNotSeen => broker.forget(number),
                Flaw::CutHasNoCause => broker.end(number, None, true),
                Flaw::CutLosesWhatItHad => broker.end(number, Some("the link was cut"), false),
                _ => broker.end(number, Some("the link was cut"), true),
            }
        }
        broker.push(self.flaw);
    }

    /// Deletes every consumer, and what it was owed.
    pub(crate) fn delete_consumers(&self) {
        let mut broker = self.broker();
        broker.consumers.clear();
        let live: Vec<u64> = broker.live().collect();
        for number in live {
            match self.flaw {
                Flaw::DeletionIsNotSeen => broker.forget(number),
                _ => broker.end(number, Some("the consumer was deleted"), false),
            }
        }
    }
}

impl Broker {
    fn live(&self) -> impl Iterator<Item = u64> + use<'_> {
        self.links.iter().filter(|(_, link)| link.last.is_none()).map(|(number, _)| *number)
    }

    fn put(&mut self, subject: &Subject, letter: &Letter) {
        for consumer in self.consumers.values_mut().filter(|consumer| consumer.subject == *subject) {
            consumer.waiting.push_back(letter.clone());
        }
    }

    /// Fills the windows, the emptiest first.
    fn push(&mut self, flaw: Flaw) {
        let Self { consumers, links, .. } = self;
        for (name, consumer) in consumers {
            while !consumer.waiting.is_empty() {
                let fellows = links.values_mut().filter(|link| link.consumer == *name && link.last.is_none());
                let most = |link: &Link| if flaw == Flaw::ReadsAhead { 1000 } else { link.bound };
                let room = fellows.filter(|link| link.holds() < most(link)).min_by_key(|link| link.holds());
                let Some(link) = room else { break };
                link.window.extend(consumer.waiting.pop_front());
                link.waker.take().into_iter().for_each(Waker::wake);
            }
        }
    }

    /// What a link held goes back to the consumer.
    fn give_back(&mut self, number: u64) {
        let Some(link) = self.links.get_mut(&number) else { return };
        let Some(consumer) = self.consumers.get_mut(&link.consumer) else { return };
        let held = std::mem::take(&mut link.in_hand).into_values().chain(link.window.drain(..));
        held.collect::<Vec<_>>().into_iter().rev().for_each(|letter| consumer.waiting.push_front(letter));
    }

    fn end(&mut self, number: u64, cause: Option<&'static str>, keep: bool) {
        let Some(link) = self.links.get_mut(&number) else { return };
        if link.last.is_some() {
            return;
        }
        let last = FinalReading::new(link.stats());
        link.last = Some(cause.into_iter().fold(last, FinalReading::ended_by));
        link.waker.take().into_iter().for_each(Waker::wake);
        if keep {
            self.give_back(number);
        }
    }

    /// The broker knows the link no more, and the link does not know.
    fn forget(&mut self, number: u64) {
        self.give_back(number);
        if let Some(link) = self.links.get_mut(&number) {
            link.consumer = "nobody's".to_owned();
            link.window.clear();
        }
    }

    fn settle(&mut self, number: u64, token: u64, outcome: Outcome, flaw: Flaw) -> bool {
        let Some(link) = self.links.get_mut(&number).filter(|link| link.last.is_none()) else { return false };
        let Some(mut letter) = link.in_hand.remove(&token) else { return false };
        let Some(consumer) = self.consumers.get_mut(&link.consumer) else { return false };
        let endless = flaw == Flaw::ForeignHasNoEnd && letter.body.is_err();
        match outcome {
            Outcome::Acked => {}
            Outcome::Returned => consumer.waiting.push_back(letter),
            _ if letter.attempt >= consumer.max_deliver && !endless => link.exhausted += 1,
            _ => {
                letter.attempt = letter.attempt.saturating_add(1);
                consumer.waiting.push_back(letter);
            }
        }
        self.push(flaw);
        true
    }
}

impl Link {
    fn holds(&self) -> usize {
        self.window.len() + self.in_hand.len()
    }

    fn stats(&self) -> SourceStats {
        let mut stats = SourceStats::default();
        stats.pending = self.window.len() as u64;
        stats.accepted = self.handed_over + stats.pending;
        stats.exhausted = self.exhausted;
        stats
    }
}

impl Backend for Depot {
    type Session = DepotSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Depot);

    async fn open(&self) -> Result<DepotSession, OpenError> {
        let mut broker = self.broker();
        broker.next += 1;
        Ok(DepotSession { depot: self.clone(), number: broker.next, closed: Mutex::new(false) })
    }
}

pub(crate) struct DepotSession {
    depot: Depot,
    number: u64,
    closed: Mutex<bool>,
}

impl DepotSession {
    fn broker(&self) -> Option<MutexGuard<'_, Broker>> {
        let closed = *self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        (!closed).then(|| self.depot.broker())
    }
}

impl Session for DepotSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let mut broker = self.broker().ok_or(PublishError::Closed)?;
        broker.put(subject, &Letter { body: Ok(event), attempt: NonZeroU32::MIN });
        broker.push(self.depot.flaw);
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        let mut broker = self.depot.broker();
        let own = broker.links.iter().filter(|(_, link)| link.session == self.number);
        let own: Vec<u64> = own.map(|(number, _)| *number).collect();
        own.into_iter().for_each(|number| broker.end(number, None, true));
        broker.push(self.depot.flaw);
        Ok(())
    }
}

impl DeliversAtLeastOnce for Depot {
    type Source = DepotSource;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Elsewhere;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &DepotSession, spec: AtLeastOnceSpec) -> Result<DepotSource, SubscribeError> {
        let subject = spec.pattern.as_subject().ok_or_else(|| SubscribeError::Setting {
            subscription: spec.name.clone(),
            setting: "pattern",
            value: spec.pattern.to_string(),
            fix: "name one whole subject".to_owned(),
        })?;
        let mut broker = session.broker().ok_or(SubscribeError::Closed)?;
        broker.next += 1;
        let (number, consumer) = (broker.next, spec.durable.to_string());
        let fresh = || Consumer { subject, max_deliver: spec.max_deliver, waiting: VecDeque::new() };
        broker.consumers.entry(consumer.clone()).or_insert_with(fresh);
        let link = Link {
            consumer,
            session: session.number,
            bound: spec.bound.get(),
            window: VecDeque::new(),
            in_hand: BTreeMap::new(),
            handed_over: 0,
            exhausted: 0,
            last: None,
            waker: None,
        };
        broker.links.insert(number, link);
        broker.push(session.depot.flaw);
        Ok(DepotSource { depot: session.depot.clone(), number })
    }
}

impl KeepsForHandler for Depot {}

/// Both halves of a source.
pub(crate) struct DepotSource {
    depot: Depot,
    number: u64,
}

impl Source for DepotSource {
    type Settler = DepotSettler;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self { depot: self.depot.clone(), number: self.number }, self)
    }
}

impl Stream for DepotSource {
    type Item = Incoming<DepotSettler>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let turn = ready!(poll_proceed(cx));
        let flaw = self.depot.flaw;
        let mut broker = self.depot.broker();
        let Broker { links, consumers, next, .. } = &mut *broker;
        let Some(link) = links.get_mut(&self.number).filter(|link| link.last.is_none()) else {
            return Poll::Ready(None);
        };
        if flaw == Flaw::SkipsForeign {
            link.window.retain(|letter| letter.body.is_ok());
        }
        let Some(letter) = link.window.pop_front() else {
            link.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        if flaw == Flaw::EndsAtForeign && letter.body.is_err() {
            broker.end(self.number, Some("this is no event"), true);
            return Poll::Ready(None);
        }
        turn.made_progress();
        link.handed_over += 1;
        *next += 1;
        link.in_hand.insert(*next, letter.clone());
        let settler = DepotSettler(Some((self.depot.clone(), self.number, *next)));
        let subject = consumers.get(&link.consumer).map(|consumer| consumer.subject.clone());
        let incoming = match (letter.body, subject) {
            (Ok(event), Some(subject)) => Incoming::new(subject, event, settler),
            (Err(text), _) => Incoming::malformed(Malformed::new(text), settler),
            (_, None) => Incoming::malformed(Malformed::new("the consumer is gone"), settler),
        };
        Poll::Ready(Some(incoming.attempt(letter.attempt)))
    }
}

impl SourceControl for DepotSource {
    fn snapshot(&self) -> SourceStats {
        let broker = self.depot.broker();
        let link = broker.links.get(&self.number);
        link.map(|link| link.last.as_ref().map_or_else(|| link.stats(), |last| last.stats)).unwrap_or_default()
    }

    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        let mut broker = self.depot.broker();
        broker.end(self.number, None, true);
        broker.push(self.depot.flaw);
        let last = broker.links.get(&self.number).and_then(|link| link.last.clone());
        Ok(last.unwrap_or_else(|| FinalReading::new(SourceStats::default())))
    }
}

/// Settles one delivery. Dropped, it gives the message back.
pub(crate) struct DepotSettler(Option<(Depot, u64, u64)>);

impl Settle for DepotSettler {
    async fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        let settled = self
            .0
            .take()
            .is_some_and(|(depot, number, token)| depot.broker().settle(number, token, settlement.outcome, depot.flaw));
        if settled { Ok(()) } else { Err(SettleError::new("the link is gone")) }
    }
}

impl Drop for DepotSettler {
    fn drop(&mut self) {
        if let Some((depot, number, token)) = self.0.take() {
            depot.broker().settle(number, token, Outcome::Returned, depot.flaw);
        }
    }
}
