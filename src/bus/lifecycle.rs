//! The bus in its two states, as types: dormant and running.

use std::{fmt, marker::PhantomData, num::NonZeroU32, pin::Pin, sync::Arc, task::Poll, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    AttachError, BuildError, BusBuilder, DroppedSetting, Handle, Health, Ledger, NotStarted, Publish, Stats, Status,
    StatusChanges, StopReport,
    activation::{self, Activation, Confirmed},
    checks::{Refusal, degrade, refusals},
    consumer::Typed,
    core::{Core, Record},
    publish::{BoxedPublish, Origin, publish, publish_boxed},
};
use crate::{
    codec::{Codec, Encodes, Json},
    contract::{Backend, PublishError},
    event::{Event, UriReference},
    subject::{DurableName, Name, Subject},
    subscription::{
        BeginAtLeastOnce, BeginAtMostOnce, BusContext, Collects, Cx, Given, Handler, RunsOn, Subscription,
        WantsSubject, value_event,
    },
};

/// How long a start may take unless it is said otherwise.
const START_BUDGET: Duration = Duration::from_secs(30);
/// What a bus that is dropped without a stop gets as its budget.
const DROP_BUDGET: Duration = Duration::from_secs(5);

/// A bus that is connected to nothing: it can be started.
#[derive(Debug, Clone, Copy)]
pub struct Dormant(());

/// A bus that runs: it can publish, and is to be stopped.
#[derive(Debug, Clone, Copy)]
pub struct Running(());

/// A message bus on backend `B`, in state `L`, with codec `C`.
///
/// ```text
/// Bus::builder(backend, source) → BusBuilder → build() → Bus<B, Dormant> → start() → Bus<B, Running> → stop(budget) ↺
/// ```
///
/// A bus that is not started cannot publish: the method is not there. What needs to outlive a state, such as a health
/// endpoint, takes a [`handle`](Bus::handle).
pub struct Bus<B: Backend, L = Dormant, C: Codec = Json> {
    core: Arc<Core<B>>,
    /// The activation that ends with this value, if there is one.
    running: Option<Lifeline<B>>,
    dropped: Arc<[DroppedSetting]>,
    state: PhantomData<fn() -> (L, C)>,
}

/// Stops a bus that is dropped while it runs (contract Y12).
struct Lifeline<B: Backend> {
    core: Arc<Core<B>>,
    activation: Option<Arc<Activation<B>>>,
}

impl<B: Backend> Bus<B> {
    /// Begins a bus on this backend. The source is the CloudEvents attribute of what the service publishes: a
    /// URI-reference that names the service (contract P3).
    pub fn builder(backend: B, source: UriReference) -> BusBuilder<B> {
        BusBuilder::new(backend, source)
    }
}

impl<B: Backend, L, C: Codec> Bus<B, L, C> {
    /// A handle to publish and to look with, cheap to clone, usable before the start and checked at run time (contract
    /// Y5).
    pub fn handle(&self) -> Handle<B, C> {
        Handle::new(self.core.clone())
    }

    /// The settings that were preferred and are not offered by the backend (contract C31).
    pub fn dropped(&self) -> &[DroppedSetting] {
        &self.dropped
    }

    /// The counters of one subscription; `None` if there is none of this name.
    pub fn stats(&self, name: &str) -> Option<Stats> {
        self.core.stats(name)
    }

    /// The counters of every subscription.
    pub fn ledger(&self) -> Ledger {
        self.core.ledger()
    }

    /// Where the bus and its consumers stand.
    pub fn status(&self) -> Status {
        self.core.board.status()
    }

    /// Waits for changes of the status.
    pub fn status_changes(&self) -> StatusChanges {
        self.core.board.changes()
    }

    /// Whether a subscription has failed for good.
    pub fn health(&self) -> Health {
        self.core.board.status().health()
    }
}

impl<B: Backend, C: Codec> Bus<B, Dormant, C> {
    pub(super) fn new(core: Core<B>, dropped: Vec<DroppedSetting>) -> Self {
        Self { core: Arc::new(core), running: None, dropped: dropped.into(), state: PhantomData }
    }

    /// Starts the bus within 30 seconds. See [`start_within`](Bus::start_within).
    ///
    /// # Errors
    /// As [`start_within`](Bus::start_within).
    pub async fn start(self) -> Result<Bus<B, Running, C>, NotStarted<B, C>> {
        self.start_within(START_BUDGET).await
    }

    /// Opens a session and subscribes everything. The bus runs when the broker has confirmed every subscription
    /// (contract Y2).
    ///
    /// # Errors
    /// The session or a subscription was refused, or the budget was used up. The error holds the dormant bus, and
    /// nothing stays open.
    ///
    /// # Cancel safety
    /// Dropping the future releases what it had acquired, in the background.
    pub async fn start_within(self, budget: Duration) -> Result<Bus<B, Running, C>, NotStarted<B, C>> {
        match activation::start(&self.core, budget).await {
            Ok(()) => {
                let activation = self.core.activation.load_full();
                let running = Lifeline { core: self.core.clone(), activation };
                Ok(Bus { core: self.core, running: Some(running), dropped: self.dropped, state: PhantomData })
            }
            Err(error) => Err(NotStarted { bus: self, error }),
        }
    }
}

impl<B: Backend, C: Codec> Bus<B, Running, C> {
    /// Publishes an event. Add [`when_room`](Publish::when_room) to wait for room instead of failing.
    ///
    /// # Errors
    /// See [`PublishError`].
    pub fn publish<'a>(
        &'a self,
        subject: &'a Subject,
        event: Event,
    ) -> Publish<'a, B, impl Future<Output = Result<(), PublishError>> + Send + use<'a, B, C>> {
        publish(Origin::Bus(self.activation()), subject, Ok(event))
    }

    /// Publishes a value as an event of this type: `datacontenttype` from the codec, `source` from the bus, a fresh
    /// `UUIDv7` as `id`, and now as `time` (contract P2).
    ///
    /// # Errors
    /// See [`PublishError`]; [`PublishError::Value`] if the value cannot be encoded.
    pub fn publish_value<'a, T: ?Sized>(
        &'a self,
        subject: &'a Subject,
        event_type: &str,
        value: &T,
    ) -> Publish<'a, B, BoxedPublish<'a>>
    where
        C: Encodes<T>,
    {
        publish_boxed(
            Origin::Bus(self.activation()),
            subject,
            value_event::<C, T>(&self.core.source, event_type, value),
        )
    }

    fn activation(&self) -> &Activation<B> {
        let activation = self.running.as_ref().and_then(|lifeline| lifeline.activation.as_deref());
        activation.expect("a running bus has an activation")
    }

    /// Subscribes a handler without state on the running bus; it is supervised like the others, and is there after a
    /// stop and a start too (contract Y9).
    ///
    /// # Errors
    /// See [`AttachError`]; a setting that is only preferred and not offered is refused here (contract C31).
    pub fn subscribe<H: Subscription>(&self, handler: H) -> Attaching
    where
        Given<H::Mode, H>: RunsOn<B> + Handler<Cx<(), C>>,
    {
        self.subscribe_with((), handler)
    }

    /// Subscribes a handler on the running bus, with state of its own.
    ///
    /// # Errors
    /// As [`subscribe`](Bus::subscribe).
    pub fn subscribe_with<S, H>(&self, state: S, handler: H) -> Attaching
    where
        S: Send + Sync + 'static,
        H: Subscription,
        Given<H::Mode, H>: RunsOn<B> + Handler<Cx<S, C>>,
    {
        attach::<B, Cx<S, C>, H>(&self.core, state, handler)
    }

    /// Begins a subscription at most once on the running bus.
    pub fn at_most_once(&self, name: Name) -> WantsSubject<BeginAtMostOnce<B, OnRunning<'_, B, C>>> {
        WantsSubject::at_most_once(OnRunning(self), name)
    }

    /// Begins a subscription at least once on the running bus.
    pub fn at_least_once(
        &self,
        name: Name,
        durable: DurableName,
        max_deliver: NonZeroU32,
    ) -> WantsSubject<BeginAtLeastOnce<B, OnRunning<'_, B, C>>> {
        WantsSubject::at_least_once(OnRunning(self), name, durable, max_deliver)
    }

    /// Stops the bus within a budget, whatever its handlers do (contract Y7): publishing ends, nothing more is taken,
    /// handlers in hand finish and settle, sources retire, the session closes. The last tenth of the budget, at least
    /// 50 ms and at most 1 s, is kept for giving back: at its start handlers that are still waiting are cancelled.
    ///
    /// # Cancel safety
    /// The stop goes on if the future is dropped.
    pub async fn stop(mut self, budget: Duration) -> Stopped<B, C> {
        let activation = self.running.as_mut().and_then(|lifeline| lifeline.activation.take());
        let activation = activation.expect("a running bus has an activation");
        let core = self.core.clone();
        let stopping = tokio::spawn(async move { activation::stop(&core, &activation, budget).await });
        let report = stopping.await.expect("a stop runs no code of a user");
        let bus = Bus { core: self.core, running: None, dropped: self.dropped, state: PhantomData };
        Stopped { bus, report }
    }
}

/// A stopped bus: it can be started again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Stopped<B: Backend, C: Codec = Json> {
    /// The bus, dormant again.
    pub bus: Bus<B, Dormant, C>,
    /// How the stop went.
    pub report: StopReport,
}

impl<B: Backend> Drop for Lifeline<B> {
    fn drop(&mut self) {
        let Some(activation) = self.activation.take() else { return };
        tracing::warn!("a running bus was dropped without a stop");
        let (core, runtime) = (self.core.clone(), activation.runtime.clone());
        runtime.spawn(async move { activation::stop(&core, &activation, DROP_BUDGET).await });
    }
}

impl<B: Backend, L, C: Codec> fmt::Debug for Bus<B, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("status", &self.status()).finish_non_exhaustive()
    }
}

/// A running bus as the place where a subscription goes that is made at run time.
#[derive(Debug)]
pub struct OnRunning<'b, B: Backend, C: Codec>(&'b Bus<B, Running, C>);

impl<B: Backend, C: Codec> Collects<B> for OnRunning<'_, B, C> {
    type Context = Cx<(), C>;
    type Collected = Attaching;

    fn collect<H: RunsOn<B> + Handler<Cx<(), C>>>(self, handler: H) -> Attaching {
        self.0.subscribe(handler)
    }
}

/// A subscription on its way to a running bus. It is ready when the first subscribe has succeeded or failed.
///
/// # Cancel safety
/// It goes on if the future is dropped: either the subscription is there then, or nothing is left of it.
#[must_use = "whether the subscription was confirmed is known when this is awaited"]
pub struct Attaching(Result<Supervised, Option<AttachError>>);

/// A supervisor has it, and has not said its first word yet.
struct Supervised {
    subscription: Name,
    confirmed: Confirmed,
    stopping: CancellationToken,
}

impl Future for Attaching {
    type Output = Result<(), AttachError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let Supervised { subscription, confirmed, stopping } = match &mut self.0 {
            Ok(supervised) => supervised,
            Err(error) => return Poll::Ready(Err(error.take().unwrap_or(AttachError::Stopped))),
        };
        Pin::new(confirmed).poll(cx).map(|said| match said {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(AttachError::Subscribe { subscription: subscription.clone(), source }),
            Err(_) if stopping.is_cancelled() => Err(AttachError::Stopped),
            Err(_) => Err(AttachError::Supervisor { subscription: subscription.clone() }),
        })
    }
}

impl fmt::Debug for Attaching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attaching").finish_non_exhaustive()
    }
}

fn attach<B: Backend, X: BusContext, H: RunsOn<B> + Handler<X>>(
    core: &Arc<Core<B>>,
    state: X::State,
    handler: H,
) -> Attaching {
    let mut settings = handler.settings();
    let consumer = Typed::<H, X>::new(handler, Arc::new(state));
    // All under one lock, so that no start or stop comes between being known and being supervised.
    let mut records = core.records();
    let mut refused = refusals(records.iter().map(|record| &record.settings).chain([&settings]), &B::CAPABILITIES);
    refused.extend(degrade(&mut settings, &B::CAPABILITIES).map(|dropped| Refusal {
        subscription: dropped.subscription,
        setting: dropped.setting,
        value: format!("prefer({})", dropped.value),
        reason: "the backend does not offer it, and a running bus drops no setting: leave it out".to_owned(),
    }));
    if !refused.is_empty() {
        return Attaching(Err(Some(BuildError { refusals: refused }.into())));
    }
    let Some(activation) = core.activation.load_full() else { return Attaching(Err(Some(AttachError::Stopped))) };
    let subscription = settings.name.clone();
    let index = records.last().map_or(0, |record| record.index + 1);
    let record = Arc::new(Record::new(index, settings, Box::new(consumer)));
    record.book.activated(activation.generation);
    core.board.add(subscription.clone());
    let Some(confirmed) = activation.supervise(core, record.clone(), true) else {
        core.board.remove(&subscription);
        return Attaching(Err(Some(AttachError::Stopped)));
    };
    records.push(record);
    Attaching(Ok(Supervised { subscription, confirmed, stopping: activation.stopping.clone() }))
}
