//! What a subscription reads: a task drains the client into the source's queue, and the stream takes from that.

use std::{
    collections::VecDeque,
    error::Error,
    fmt,
    num::NonZeroUsize,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
};

use async_nats::{Message as Wire, Subscriber};
use futures_core::Stream;
use tokio::{
    sync::broadcast,
    task::{consume_budget, coop::poll_proceed, yield_now},
};
use tokio_util::sync::CancellationToken;

use super::{
    drain::next_batch,
    link::{Link, denied_subscribing},
    queue::Queue,
    signals::Denied,
    wire::Reader,
};
use crate::{
    contract::{
        AtMostOnceSpec, FinalReading, Incoming, NothingToSettle, Overflow, RetireError, RetireReason, Source,
        SourceControl, SourceStats, SubscribeError,
    },
    subject::{Group, Name, Pattern},
};

/// What a queue carries: a message, or one with the means to answer it.
pub(super) trait Parcel: fmt::Debug + Send + Sized + 'static {
    /// What all of one queue have in common.
    type Terms: fmt::Debug + Send + Sync + 'static;

    /// Packs a message that came.
    fn pack(message: Wire, link: &Arc<Link>, terms: &Self::Terms) -> Self;

    /// It found no room, or made some, and is counted.
    fn shed(self);
}

impl Parcel for Wire {
    type Terms = ();

    fn pack(message: Wire, _link: &Arc<Link>, _terms: &()) -> Self {
        message
    }

    fn shed(self) {}
}

/// What a source is made of, as its task, its stream and its control share it.
#[derive(Debug)]
pub(super) struct Feed<T: Parcel> {
    queue: Queue<T>,
    terms: T::Terms,
    link: Arc<Link>,
    pattern: Pattern,
    /// How often the link had been interrupted when the source was opened.
    before: u64,
    /// The source is to end.
    stop: CancellationToken,
    /// The task has ended.
    done: CancellationToken,
    last: OnceLock<FinalReading>,
}

/// A subscription that was asked for.
pub(super) struct Wanted<'w, T: Parcel> {
    pub(super) name: &'w Name,
    pub(super) pattern: &'w Pattern,
    pub(super) group: Option<&'w Group>,
    pub(super) bound: NonZeroUsize,
    pub(super) overflow: Overflow,
    pub(super) terms: T::Terms,
}

impl<T: Parcel> Feed<T> {
    /// Subscribes, and begins to drain once the server has confirmed it. Ends when its last holder is dropped.
    pub(super) async fn open(link: &Arc<Link>, wanted: Wanted<'_, T>) -> Result<Hold<T>, SubscribeError> {
        let Wanted { name, pattern, group, bound, overflow, terms } = wanted;
        let before = link.interruptions();
        let (subscriber, denials) = link.subscribe(name, pattern, group).await?;
        let feed = Arc::new(Self {
            queue: Queue::new(bound, overflow),
            terms,
            link: Arc::clone(link),
            pattern: pattern.clone(),
            before,
            stop: link.closed().child_token(),
            done: CancellationToken::new(),
            last: OnceLock::new(),
        });
        let done = feed.done.clone().drop_guard();
        let draining = Arc::clone(&feed).drain(subscriber, denials);
        link.tasks().spawn(async move {
            draining.await;
            drop(done);
        });
        Ok(Hold(feed))
    }

    /// Takes what comes, until the source is to end or can go on no more.
    async fn drain(self: Arc<Self>, mut subscriber: Subscriber, mut denials: broadcast::Receiver<Denied>) {
        let skips = Skips::of(&self.pattern, &self.link);
        let (mut batch, mut packed, mut shed) = (Vec::new(), VecDeque::new(), Vec::new());
        let cause: Option<Box<dyn Error + Send + Sync>> = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break None,
                denied = denied_subscribing(&mut denials, self.pattern.as_str()) => break Some(denied.into()),
                more = next_batch(&mut subscriber, &mut batch) => if !more {
                    break (!self.link.closed().is_cancelled()).then(|| "the NATS client has ended".into());
                },
            }
            self.pack(&mut batch, &mut packed, &skips);
            self.queue.fill(&mut packed);
            if !packed.is_empty() {
                // Before anything is shed, whoever reads has a turn.
                yield_now().await;
                self.queue.force(&mut packed, &mut shed);
                shed.drain(..).for_each(T::shed);
            }
            consume_budget().await;
        };
        if cause.is_none() && self.link.ready().is_ok() {
            self.leave(&mut subscriber, &mut batch).await;
            self.pack(&mut batch, &mut packed, &skips);
            self.queue.force(&mut packed, &mut shed);
            shed.drain(..).for_each(T::shed);
        }
        self.end(cause);
    }

    /// Unsubscribes, and takes what the server had sent before it heard of that.
    async fn leave(&self, subscriber: &mut Subscriber, batch: &mut Vec<Wire>) {
        let leaving = async {
            if subscriber.drain().await.is_ok() {
                let mut more = Vec::new();
                while next_batch(subscriber, &mut more).await {
                    batch.append(&mut more);
                }
                // The server routes nothing here any more.
                let _ = self.link.heard().await;
            }
        };
        tokio::select! {
            biased;
            () = leaving => {}
            () = self.link.down() => {}
            () = self.link.closed().cancelled() => {}
        }
    }

    fn pack(&self, batch: &mut Vec<Wire>, packed: &mut VecDeque<T>, skips: &Skips) {
        let kept = batch.drain(..).filter(|message| !skips.skip(&message.subject));
        packed.extend(kept.map(|message| T::pack(message, &self.link, &self.terms)));
    }

    fn end(&self, cause: Option<Box<dyn Error + Send + Sync>>) {
        let reading = FinalReading::new(SourceStats { interruptions: self.interruptions(), ..self.queue.end() });
        // The first one counts.
        let _ = self.last.set(cause.into_iter().fold(reading, FinalReading::ended_by));
    }

    fn interruptions(&self) -> u64 {
        self.link.interruptions().saturating_sub(self.before)
    }

    pub(super) fn stats(&self) -> SourceStats {
        match self.last.get() {
            Some(last) => last.stats,
            None => SourceStats { interruptions: self.interruptions(), ..self.queue.stats() },
        }
    }

    /// Ends the source, and returns the counters that never change again.
    pub(super) async fn retire(&self) -> FinalReading {
        self.stop.cancel();
        self.done.cancelled().await;
        // Where the task was dropped with its runtime, nobody has ended it.
        if self.last.get().is_none() {
            self.end(None);
        }
        self.last.get().cloned().unwrap_or_else(|| FinalReading::new(self.queue.stats()))
    }

    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let unit = ready!(poll_proceed(cx));
        let next = ready!(self.queue.poll_next(cx));
        unit.made_progress();
        Poll::Ready(next)
    }
}

/// Holds a source open.
#[derive(Debug)]
pub(super) struct Hold<T: Parcel>(Arc<Feed<T>>);

impl<T: Parcel> std::ops::Deref for Hold<T> {
    type Target = Feed<T>;

    fn deref(&self) -> &Feed<T> {
        &self.0
    }
}

impl<T: Parcel> Drop for Hold<T> {
    fn drop(&mut self) {
        self.0.stop.cancel();
    }
}

/// What NATS sends for itself, and what a pattern that begins with a wildcard selects too: the broker's own subjects, and
/// the addresses that replies go to. Neither is the bus's (contract S6).
#[derive(Debug)]
struct Skips {
    prefixes: Vec<String>,
}

impl Skips {
    fn of(pattern: &Pattern, link: &Link) -> Self {
        let prefixes = if pattern.as_str().starts_with(['*', '>']) {
            vec!["$".to_owned(), "_INBOX.".to_owned(), format!("{}.", link.inbox_prefix())]
        } else {
            Vec::new()
        };
        Self { prefixes }
    }

    fn skip(&self, subject: &str) -> bool {
        self.prefixes.iter().any(|prefix| subject.starts_with(prefix.as_str()))
    }
}

/// What a subscription on NATS reads from, at most once.
///
/// When both halves are dropped without a retire, it unsubscribes too.
#[derive(Debug)]
pub struct NatsSource(Arc<Hold<Wire>>);

impl NatsSource {
    /// Subscribes.
    pub(in crate::backend) async fn open(link: &Arc<Link>, spec: AtMostOnceSpec) -> Result<Self, SubscribeError> {
        let wanted = Wanted {
            name: &spec.name,
            pattern: &spec.pattern,
            group: spec.group.as_ref(),
            bound: spec.bound,
            overflow: spec.overflow.unwrap_or(Overflow::ShedNewest),
            terms: (),
        };
        Ok(Self(Arc::new(Feed::open(link, wanted).await?)))
    }
}

impl Source for NatsSource {
    type Settler = NothingToSettle;
    type Deliveries = NatsDeliveries;
    type Control = NatsSourceControl;

    fn split(self) -> (NatsDeliveries, NatsSourceControl) {
        (NatsDeliveries { hold: Arc::clone(&self.0), reader: Reader::default() }, NatsSourceControl(self.0))
    }
}

/// The messages of one source, in the order in which they came.
///
/// Each takes one unit of the task's cooperative budget, so an always-ready source starves nobody on its thread.
#[derive(Debug)]
pub struct NatsDeliveries {
    hold: Arc<Hold<Wire>>,
    reader: Reader,
}

impl Stream for NatsDeliveries {
    type Item = Incoming<NothingToSettle>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.hold.poll_next(cx));
        Poll::Ready(next.map(|message| match self.reader.message(message) {
            Ok(message) => Incoming::of(message, NothingToSettle),
            Err(malformed) => Incoming::malformed(malformed, NothingToSettle),
        }))
    }
}

/// Reads the counters of one source, and ends it.
#[derive(Debug)]
pub struct NatsSourceControl(Arc<Hold<Wire>>);

impl SourceControl for NatsSourceControl {
    fn snapshot(&self) -> SourceStats {
        self.0.stats()
    }

    /// At most once, a backlog is lost with its source whatever the reason: it is the reading's `pending`. What the server
    /// had sent and the client had not read when it heard of the end is in no number.
    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(self.0.retire().await)
    }
}
