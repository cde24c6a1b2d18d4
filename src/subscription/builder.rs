//! Subscriptions built at run time, where names or bounds come from configuration.

use std::{
    future::Future,
    marker::PhantomData,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use super::{
    Asks, AtLeastOnce, AtMostOnce, Backoff, BusContext, Delayed, Delivery, FromState, Handler, IsKept, KeyedBy,
    MayForget, MayRedeliver, OfferedBy, OpensOn, OverflowPolicy, Restart, RunsOn, Settings, ShedsNothing, State,
    Verdict,
    closure::{Closure, Plain, WithState},
    sealed::Sealed,
};
use crate::{
    contract::{
        Backend, DelaysRedelivery, DeliversAtMostOnce, FailsWhenFull, MatchesPatterns, Orders, Replays, SlowHandler,
        StartAt,
    },
    subject::{DurableName, Group, Name, Pattern, Subject},
};

/// Where a finished subscription goes: a bus that is being built, or one that runs. Sealed.
pub trait Collects<B: Backend>: Sealed + Sized {
    /// What handlers get there.
    type Context: BusContext;
    /// What one goes on with.
    type Collected;

    /// Takes the subscription.
    fn collect<H: RunsOn<B> + Handler<Self::Context>>(self, handler: H) -> Self::Collected;
}

/// A subscription that does not say yet which subjects it selects.
#[derive(Debug)]
#[must_use = "a subscription selects something: write `.subject(..)` or `.pattern(..)`"]
pub struct WantsSubject<T> {
    pub(super) begin: T,
}

/// What is known before the subjects are, at most once.
#[derive(Debug)]
pub struct BeginAtMostOnce<B, P> {
    parent: P,
    name: Name,
    backend: PhantomData<fn() -> B>,
}

/// What is known before the subjects are, at least once.
#[derive(Debug)]
pub struct BeginAtLeastOnce<B, P> {
    parent: P,
    name: Name,
    durable: DurableName,
    max_deliver: NonZeroU32,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend, P: Collects<B>> WantsSubject<BeginAtMostOnce<B, P>> {
    pub(crate) fn at_most_once(parent: P, name: Name) -> Self {
        Self { begin: BeginAtMostOnce { parent, name, backend: PhantomData } }
    }

    /// Selects one subject.
    pub fn subject(self, subject: Subject) -> AtMostOnceBuilder<B, P> {
        self.select(subject.into())
    }

    /// Selects the subjects that a pattern matches.
    pub fn pattern(self, pattern: Pattern) -> AtMostOnceBuilder<B, P>
    where
        B: MatchesPatterns,
    {
        self.select(pattern)
    }

    fn select(self, pattern: Pattern) -> AtMostOnceBuilder<B, P> {
        let BeginAtMostOnce { parent, name, .. } = self.begin;
        AtMostOnceBuilder { parent, settings: Settings::at_most_once(name, pattern), backend: PhantomData }
    }
}

impl<B: Backend, P: Collects<B>> WantsSubject<BeginAtLeastOnce<B, P>> {
    pub(crate) fn at_least_once(parent: P, name: Name, durable: DurableName, max_deliver: NonZeroU32) -> Self {
        Self { begin: BeginAtLeastOnce { parent, name, durable, max_deliver, backend: PhantomData } }
    }

    /// Selects one subject.
    pub fn subject(self, subject: Subject) -> AtLeastOnceBuilder<B, P> {
        self.select(subject.into())
    }

    /// Selects the subjects that a pattern matches.
    pub fn pattern(self, pattern: Pattern) -> AtLeastOnceBuilder<B, P>
    where
        B: MatchesPatterns,
    {
        self.select(pattern)
    }

    fn select(self, pattern: Pattern) -> AtLeastOnceBuilder<B, P> {
        let BeginAtLeastOnce { parent, name, durable, max_deliver, .. } = self.begin;
        let settings = Settings::at_least_once(name, pattern, durable, max_deliver);
        AtLeastOnceBuilder { parent, settings, asks: PhantomData }
    }
}

/// A subscription at most once, in the making.
#[derive(Debug)]
#[must_use = "it is not subscribed until `.handle(..)`"]
pub struct AtMostOnceBuilder<B, P> {
    parent: P,
    settings: Settings,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend, P: Collects<B>> AtMostOnceBuilder<B, P> {
    /// Competes with the other members of this group, instead of getting every message.
    pub fn group(self, group: Group) -> Self {
        self.with(|settings| settings.group(group))
    }

    /// Holds at most this many messages; 256 unless said otherwise (contract B1).
    pub fn bound(self, bound: NonZeroUsize) -> Self {
        self.with(|settings| settings.bound(bound))
    }

    /// Does this at the bound (contract B2).
    pub fn overflow<O: OfferedBy<B>>(self, _policy: O) -> Self {
        self.with(|settings| settings.overflow(O::OVERFLOW))
    }

    /// Does this at the bound where the backend offers it, else what the backend does by itself; `build()` then lists
    /// the dropped setting (contract C31).
    pub fn prefer<O: OverflowPolicy>(self, _policy: O) -> Self {
        self.with(|settings| settings.prefer(O::OVERFLOW))
    }

    /// Handles this many messages side by side; 1 unless said otherwise (contract B7).
    pub fn concurrency(self, concurrency: NonZeroUsize) -> Self {
        self.with(|settings| settings.concurrency(concurrency))
    }

    /// Asks for publication order of each subject (contract G1).
    pub fn ordered(self) -> Self
    where
        B: Orders,
    {
        self.with(Settings::ordered)
    }

    /// Handles messages of one key strictly in order, and different keys side by side up to `concurrency` (contract G2).
    pub fn keyed(self, by: KeyedBy) -> Self {
        self.with(|settings| settings.keyed(by))
    }

    /// Is started again after a failure (contract V1).
    pub fn restart(self, restart: Restart) -> Self {
        self.with(|settings| settings.restart(restart))
    }

    /// Subscribes this closure: `move |delivery| { let db = db.clone(); async move { .. } }`.
    pub fn handle<F, Fut, V>(self, function: F) -> P::Collected
    where
        B: DeliversAtMostOnce,
        F: Fn(Delivery<AtMostOnce>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = V> + Send + 'static,
        V: Verdict<AtMostOnce> + 'static,
    {
        self.parent.collect(Closure::<AtMostOnce, _>::new(self.settings, Plain(function)))
    }

    /// Subscribes this closure, which takes a part of the bus's state beside the delivery:
    /// `|delivery, State(db): State<Db>| async move { .. }`.
    pub fn handle_with<T, F, Fut, V>(self, function: F) -> P::Collected
    where
        B: DeliversAtMostOnce,
        T: FromState<<P::Context as BusContext>::State> + 'static,
        F: Fn(Delivery<AtMostOnce>, State<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = V> + Send + 'static,
        V: Verdict<AtMostOnce> + 'static,
    {
        self.parent.collect(Closure::<AtMostOnce, _>::new(self.settings, WithState::new(function)))
    }

    fn with(self, change: impl FnOnce(Settings) -> Settings) -> Self {
        Self { settings: change(self.settings), ..self }
    }
}

/// A subscription at least once, in the making. `A` is what it asks of backend `B` so far.
#[derive(Debug)]
#[must_use = "it is not subscribed until `.handle(..)`"]
pub struct AtLeastOnceBuilder<B, P, A = Asks> {
    parent: P,
    settings: Settings,
    asks: PhantomData<fn() -> (B, A)>,
}

impl<B: Backend, P: Collects<B>, R, S, K> AtLeastOnceBuilder<B, P, Asks<R, S, K>> {
    /// Holds at most this many messages, queued, in hand and waiting out a delay; 256 unless said otherwise (contract
    /// B1, B4).
    pub fn bound(self, bound: NonZeroUsize) -> Self {
        self.with(|settings| settings.bound(bound))
    }

    /// Does this at the bound: only [`Fail`](super::Fail), since a shed message would still be owed (contract C13).
    pub fn overflow<O: ShedsNothing>(self, _policy: O) -> Self
    where
        B: FailsWhenFull,
    {
        self.with(|settings| settings.overflow(O::OVERFLOW))
    }

    /// Does this at the bound where the backend offers it, else what the backend does by itself; `build()` then lists
    /// the dropped setting (contract C31).
    pub fn prefer<O: ShedsNothing>(self, _policy: O) -> Self {
        self.with(|settings| settings.prefer(O::OVERFLOW))
    }

    /// Handles this many messages side by side; 1 unless said otherwise (contract B7).
    pub fn concurrency(self, concurrency: NonZeroUsize) -> Self {
        self.with(|settings| settings.concurrency(concurrency))
    }

    /// Asks for publication order of first deliveries (contract G1).
    pub fn ordered(self) -> Self
    where
        B: Orders,
    {
        self.with(Settings::ordered)
    }

    /// Handles messages of one key strictly in order, and different keys side by side up to `concurrency` (contract G2).
    pub fn keyed(self, by: KeyedBy) -> Self {
        self.with(|settings| settings.keyed(by))
    }

    /// Is started again after a failure (contract V1).
    pub fn restart(self, restart: Restart) -> Self {
        self.with(|settings| settings.restart(restart))
    }

    /// A new durable identity begins at the oldest message that is retained, instead of at what is published from then
    /// on (contract I5).
    pub fn replay(self) -> Self
    where
        B: Replays,
    {
        self.with(|settings| settings.start_at(StartAt::AllAvailable))
    }

    /// The lease; the backend's own default unless said otherwise (contract E2).
    pub fn ack_wait(self, lease: Duration) -> Self {
        self.with(|settings| settings.ack_wait(lease))
    }

    /// Accepts that a restart of the process loses the backlog (contract C14).
    pub fn allow_volatile(self) -> AtLeastOnceBuilder<B, P, Asks<R, MayForget, K>> {
        self.asking()
    }

    /// How long a slow handler's message is kept for it; five minutes unless said otherwise (contract E4).
    pub fn max_processing_time(self, longest: Duration) -> Self
    where
        K: IsKept,
    {
        self.with(|settings| settings.slow_handler(SlowHandler::ExtendLease { max_processing_time: longest }))
    }

    /// A message whose handler is slow is delivered again beside it, instead of being kept for it (contract E3). A
    /// `max_processing_time` that was given before has no meaning then (C17).
    pub fn redeliver_when_slow(self) -> AtLeastOnceBuilder<B, P, Asks<R, S, MayRedeliver>> {
        self.with(|settings| settings.slow_handler(SlowHandler::Redeliver)).asking()
    }

    /// Holds a declined message back by this schedule; turns `nack_after` on (contract O, T12).
    pub fn backoff(self, backoff: Backoff) -> AtLeastOnceBuilder<B, P, Asks<Delayed, S, K>>
    where
        B: DelaysRedelivery,
    {
        self.with(|settings| settings.backoff(backoff)).asking()
    }

    /// The longest delay that a handler may ask for; turns `nack_after` on (contract T12).
    pub fn max_nack_delay(self, longest: Duration) -> AtLeastOnceBuilder<B, P, Asks<Delayed, S, K>>
    where
        B: DelaysRedelivery,
    {
        self.with(|settings| settings.max_nack_delay(longest)).asking()
    }

    /// Subscribes this closure: `move |delivery| { let db = db.clone(); async move { .. } }`.
    pub fn handle<F, Fut, V>(self, function: F) -> P::Collected
    where
        Asks<R, S, K>: OpensOn<B, Mode = AtLeastOnce<R>>,
        F: Fn(Delivery<AtLeastOnce<R>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = V> + Send + 'static,
        V: Verdict<AtLeastOnce<R>> + 'static,
        R: Send + Sync + 'static,
    {
        self.parent.collect(Closure::<Asks<R, S, K>, _>::new(self.settings, Plain(function)))
    }

    /// Subscribes this closure, which takes a part of the bus's state beside the delivery:
    /// `|delivery, State(db): State<Db>| async move { .. }`.
    pub fn handle_with<T, F, Fut, V>(self, function: F) -> P::Collected
    where
        Asks<R, S, K>: OpensOn<B, Mode = AtLeastOnce<R>>,
        T: FromState<<P::Context as BusContext>::State> + 'static,
        F: Fn(Delivery<AtLeastOnce<R>>, State<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = V> + Send + 'static,
        V: Verdict<AtLeastOnce<R>> + 'static,
        R: Send + Sync + 'static,
    {
        self.parent.collect(Closure::<Asks<R, S, K>, _>::new(self.settings, WithState::new(function)))
    }

    fn with(self, change: impl FnOnce(Settings) -> Settings) -> Self {
        Self { settings: change(self.settings), ..self }
    }

    fn asking<A>(self) -> AtLeastOnceBuilder<B, P, A> {
        AtLeastOnceBuilder { parent: self.parent, settings: self.settings, asks: PhantomData }
    }
}
