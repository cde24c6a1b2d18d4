//! What the tests share: a bus on memory, events, handlers of every kind, and waiting without sleeping.

use std::{future::Future, marker::PhantomData, num::NonZeroUsize, pin::Pin, sync::Arc, time::Duration};

use tokio::sync::Semaphore;
use tramline::{
    AtLeastOnce, AtMostOnce, Bus, Delayed, Event, Json, Memory, Name, Running, Subject,
    bus::{BusBuilder, Stats},
    contract::{Backend, DeliversAtLeastOnce, DeliversAtMostOnce, FailureReply, SourceId},
    source, subject,
    subscription::{
        AtMostOnceBuilder, Cx, Handler, Judgement, Mode, Opening, Parts, Rejection, RunsOn, Settings, Subscription,
        open_at_least_once, open_at_most_once,
    },
};

pub(crate) fn builder() -> BusBuilder<Memory> {
    Bus::builder(Memory::new(), source!("urn:example:test"))
}

/// Builds and starts a bus that has nothing wrong with it.
pub(crate) async fn start<B: Backend, S: Send + Sync + 'static>(builder: BusBuilder<B, S>) -> Bus<B, Running> {
    builder.build().expect("valid").start().await.expect("starts")
}

/// A subscription `one` to the subject `a`, at most once, on a backend of a test's own.
pub(crate) fn one_on<B: Backend>(backend: B) -> AtMostOnceBuilder<B, BusBuilder<B>> {
    Bus::builder(backend, source!("urn:example:test")).at_most_once(name("one")).subject(subject!("a"))
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a valid name")
}

pub(crate) fn many(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("not zero")
}

#[allow(clippy::needless_pass_by_value, reason = "numbers and texts alike, as they stand")]
pub(crate) fn event(id: impl ToString) -> Event {
    Event::builder(id.to_string(), source!("urn:example:test"), "com.example.test.v1").build().expect("a valid event")
}

pub(crate) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(crate) const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Waits until this holds, letting other tasks run meanwhile; gives up after so many turns. Paused time stands still.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never: {what}");
}

/// Lets every other task run until it waits. Paused time stands still.
pub(crate) async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// Waits in real time until this holds, for tests that block threads.
pub(crate) async fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..5_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(millis(1)).await;
    }
    panic!("not within 5 s: {what}");
}

/// Held by tests that measure how long thousands of deliveries take, so that they do not measure each other.
pub(crate) static MEASURING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The identities that hold at any quiescent instant.
#[track_caller]
pub(crate) fn balanced(stats: &Stats) {
    assert_eq!(stats.unaccounted(), 0, "L4: {stats}");
    let said = stats.settlement.acked + stats.settlement.nacked + stats.settlement.silent;
    assert_eq!(said, stats.delivered, "L7: {stats}");
}

/// A door that handlers wait at.
#[derive(Clone)]
pub(crate) struct Door(Arc<Semaphore>);

impl Door {
    pub(crate) fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets this many through.
    pub(crate) fn admit(&self, count: usize) {
        self.0.add_permits(count);
    }

    pub(crate) async fn pass(&self) {
        self.0.acquire().await.expect("never closed").forget();
    }
}

pub(crate) type Handling<'d> = Pin<Box<dyn Future<Output = Result<Judgement, Rejection>> + Send + 'd>>;
pub(crate) type Context = Cx<(), Json>;

/// A handler of everything that a delivery offers, written by hand: what `#[subscription]` would make.
pub(crate) struct ByHand<F, M = AtMostOnce> {
    settings: Settings,
    function: F,
    mode: PhantomData<fn() -> M>,
}

/// An at-most-once handler of a function that takes the parts of a delivery.
pub(crate) fn by_hand<F>(name: Name, subject: Subject, function: F) -> ByHand<F>
where
    F: for<'d> Fn(Parts<'d, Context>) -> Handling<'d> + Send + Sync + 'static,
{
    in_mode(Settings::at_most_once(name, subject.into()), function)
}

/// The same with these settings, in the mode that they are of.
pub(crate) fn in_mode<F, M>(settings: Settings, function: F) -> ByHand<F, M>
where
    F: for<'d> Fn(Parts<'d, Context>) -> Handling<'d> + Send + Sync + 'static,
{
    ByHand { settings, function, mode: PhantomData }
}

impl<F> ByHand<F> {
    pub(crate) fn with(self, change: impl FnOnce(Settings) -> Settings) -> Self {
        Self { settings: change(self.settings), ..self }
    }
}

impl<F: Send + Sync + 'static, M: Mode> Subscription for ByHand<F, M> {
    type Mode = M;

    fn settings(&self) -> Settings {
        self.settings.clone()
    }
}

impl<B: DeliversAtMostOnce, F: Send + Sync + 'static> RunsOn<B> for ByHand<F> {
    type Source = B::Source;

    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        _: &FailureReply,
    ) -> Opening<'s, B::Source> {
        open_at_most_once::<B>(session, settings, id)
    }
}

impl<B: DeliversAtLeastOnce, F: Send + Sync + 'static> RunsOn<B> for ByHand<F, AtLeastOnce<Delayed>> {
    type Source = B::Source;

    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        _: &FailureReply,
    ) -> Opening<'s, B::Source> {
        open_at_least_once::<B>(session, settings, id)
    }
}

impl<F, M: Mode> Handler<Context> for ByHand<F, M>
where
    F: for<'d> Fn(Parts<'d, Context>) -> Handling<'d> + Send + Sync + 'static,
{
    fn handle<'d>(
        &'d self,
        parts: Parts<'d, Context>,
    ) -> impl Future<Output = Result<Judgement, Rejection>> + Send + 'd {
        // Not an `async fn`: what the function does before its future is polled is done here.
        (self.function)(parts)
    }
}
