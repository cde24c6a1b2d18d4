//! A small backend that delivers at least once and keeps nothing: what is not acknowledged goes back on the shelf.

use std::{
    collections::{BTreeMap, VecDeque},
    future::pending,
    num::NonZeroU32,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio_stream::Stream;
use tramline::{
    DurableName, Event, Pattern, Subject, capabilities,
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery, DeliversAtLeastOnce, FinalReading,
        Incoming, KeepsForHandler, Lease, Malformed, MatchesPatterns, OpenError, Orders, Outcome, PublishError,
        QueuePlace, RetireError, RetireReason, Session, Settle, SettleError, Settlement, Source, SourceControl,
        SourceStats, SubscribeError, Volatile,
    },
};

/// How settlements are answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Settling {
    #[default]
    Fine,
    Refused,
    Never,
    Panics,
    /// What is declined does not come back: another process gets it.
    Forgets,
}

#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<Shelves>>);

#[derive(Default)]
pub(crate) struct Shelves {
    pub(crate) settling: Settling,
    /// Event, attempt, settlement, in order of arrival.
    pub(crate) settled: Vec<(String, u32, Settlement)>,
    /// Published as no valid event.
    pub(crate) garble: bool,
    durables: BTreeMap<DurableName, Durable>,
}

struct Durable {
    pattern: Pattern,
    max_deliver: u32,
    queue: VecDeque<Message>,
    stats: SourceStats,
    live: bool,
    waker: Option<Waker>,
}

#[derive(Clone)]
struct Message {
    subject: Subject,
    event: Event,
    garbled: bool,
    attempt: u32,
}

impl Shelf {
    pub(crate) fn look(&self) -> MutexGuard<'_, Shelves> {
        self.0.lock().unwrap()
    }

    /// What arrived as settlements so far.
    pub(crate) fn settled(&self) -> Vec<(String, u32, Settlement)> {
        self.look().settled.clone()
    }
}

impl Durable {
    fn put(&mut self, message: Message) {
        self.stats.accepted += 1;
        self.queue.push_back(message);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

pub(crate) struct ShelfSession(Shelf);

impl Backend for Shelf {
    type Session = ShelfSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Shelf);

    async fn open(&self) -> Result<ShelfSession, OpenError> {
        Ok(ShelfSession(self.clone()))
    }
}

impl Session for ShelfSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let mut shelves = self.0.look();
        let garbled = shelves.garble;
        for durable in shelves.durables.values_mut().filter(|durable| durable.live && durable.pattern.matches(subject))
        {
            durable.put(Message { subject: subject.clone(), event: event.clone(), garbled, attempt: 1 });
        }
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.0.look().durables.clear();
        Ok(())
    }
}

impl DeliversAtLeastOnce for Shelf {
    type Source = ShelfSource;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &ShelfSession, spec: AtLeastOnceSpec) -> Result<ShelfSource, SubscribeError> {
        let mut shelves = session.0.look();
        let durable = shelves.durables.entry(spec.durable.clone()).or_insert_with(|| Durable {
            pattern: spec.pattern.clone(),
            max_deliver: spec.max_deliver.get(),
            queue: VecDeque::new(),
            stats: SourceStats::default(),
            live: true,
            waker: None,
        });
        durable.live = true;
        durable.stats = SourceStats::default();
        durable.stats.accepted = durable.queue.len() as u64;
        Ok(ShelfSource(session.0.clone(), spec.durable))
    }
}

impl KeepsForHandler for Shelf {}
impl MatchesPatterns for Shelf {}
impl Orders for Shelf {}

impl DelaysRedelivery for Shelf {
    const LONGEST_DELAY: Option<Duration> = Some(Duration::from_secs(3_600));
}

#[derive(Clone)]
pub(crate) struct ShelfSource(Shelf, DurableName);

impl Source for ShelfSource {
    type Settler = ShelfSettler;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (self.clone(), self)
    }
}

impl Stream for ShelfSource {
    type Item = Incoming<ShelfSettler>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut shelves = self.0.look();
        let Some(durable) = shelves.durables.get_mut(&self.1).filter(|durable| durable.live) else {
            return Poll::Ready(None);
        };
        let Some(message) = durable.queue.pop_front() else {
            durable.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let settler = ShelfSettler { shelf: self.0.clone(), durable: self.1.clone(), message: message.clone() };
        let Message { subject, event, garbled, attempt } = message;
        let incoming = match garbled {
            false => Incoming::new(subject, event, settler),
            true => Incoming::malformed(Malformed::new("garbled").at(subject.as_str()), settler),
        };
        Poll::Ready(Some(incoming.attempt(NonZeroU32::new(attempt).unwrap())))
    }
}

impl SourceControl for ShelfSource {
    fn snapshot(&self) -> SourceStats {
        let shelves = self.0.look();
        let durable = &shelves.durables[&self.1];
        let mut stats = durable.stats;
        stats.pending = durable.queue.len() as u64;
        stats
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        let stats = self.snapshot();
        let mut shelves = self.0.look();
        let durable = shelves.durables.get_mut(&self.1).unwrap();
        durable.live = false;
        if let Some(waker) = durable.waker.take() {
            waker.wake();
        }
        if reason == RetireReason::GivenUp {
            durable.queue.clear();
        }
        Ok(FinalReading::new(stats))
    }
}

pub(crate) struct ShelfSettler {
    shelf: Shelf,
    durable: DurableName,
    message: Message,
}

impl Settle for ShelfSettler {
    async fn settle(self, settlement: Settlement) -> Result<(), SettleError> {
        let Self { shelf, durable, mut message } = self;
        let settling = {
            let mut shelves = shelf.look();
            shelves.settled.push((message.event.id().to_owned(), message.attempt, settlement));
            shelves.settling
        };
        match settling {
            Settling::Fine => {}
            Settling::Refused => return Err(SettleError::new("the test says so")),
            Settling::Never => pending().await,
            Settling::Panics => panic!("the settler panics"),
            Settling::Forgets => return Ok(()),
        }
        let mut shelves = shelf.look();
        let Some(at) = shelves.durables.get_mut(&durable) else { return Err(SettleError::new("closed")) };
        match settlement.outcome {
            Outcome::Acked => return Ok(()),
            Outcome::Returned => {}
            _ if message.attempt == at.max_deliver => {
                at.stats.exhausted += 1;
                return Ok(());
            }
            _ => message.attempt += 1,
        }
        if settlement.delay.is_zero() {
            at.put(message);
        } else {
            drop(shelves);
            tokio::spawn(async move {
                tokio::time::sleep(settlement.delay).await;
                if let Some(durable) = shelf.look().durables.get_mut(&durable) {
                    durable.put(message);
                }
            });
        }
        Ok(())
    }
}
