//! The bus in its two states, as types: dormant and running.

use std::{fmt, marker::PhantomData, num::NonZeroU32, sync::Arc, time::Duration};

use super::{
    Attaching, BusBuilder, DroppedSetting, Handle, Health, Ledger, NoDeadline, NotStarted, OnRunning, Publish,
    PublishBatch, PublishValue, Request, Stats, Status, StatusChanges, StopReport,
    activation::{self, Activation},
    attach::attach,
    core::Core,
    idle::{at_rest, idle},
    publish::{Origin, from_bus},
    request::{request, request_value},
};
use crate::{
    codec::{Codec, Decodes, Encodes, Json},
    contract::{AnswersRequests, Backend, PublishError},
    event::{Event, EventBuilder, UriReference},
    subject::{DurableName, Group, Name, Subject},
    subscription::{
        Addressed, BeginAtLeastOnce, BeginAtMostOnce, BeginResponder, Cx, Given, Handler, Publisher, RunsOn,
        Subscription, WantsSubject, topic_event, value_builder,
    },
    topic::Topic,
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
/// Bus::builder(backend, source) → BusBuilder → build() → Bus<B, Dormant>
///                         Bus<B, Dormant> → start() → Bus<B, Running> → stop(budget) ↺
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

    /// The counters of every subscription and of every request.
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
    /// (contract Y2). A broker that cannot be reached is tried again, with waits from 100 ms to 2 s, as long as the budget
    /// lasts; the log and the [status](Self::status) say so meanwhile.
    ///
    /// # Errors
    /// The session or a subscription was refused, or the budget was used up. The error holds the dormant bus, and
    /// nothing stays open.
    ///
    /// What had to be given back on failure may take up to a second beyond the budget.
    ///
    /// # Panics
    /// Outside of a tokio runtime with its time driver.
    ///
    /// # Cancel safety
    /// Dropping the future releases what it had acquired, in the background, and drops the bus with it: bound a start by
    /// its budget, and not by a timeout around it.
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
        from_bus(self.activation(), subject, event)
    }

    /// Publishes a value as an event of this type: `datacontenttype` from the codec, `source` from the bus, a fresh
    /// `UUIDv7` as `id`, and now as `time` (contract P2). What is to be otherwise is said before it is awaited:
    ///
    /// ```
    /// # use tramline::{Bus, Memory, Running, Subject, contract::PublishError, subject};
    /// # async fn publish(bus: Bus<Memory, Running>, invoice: String) -> Result<(), PublishError> {
    /// bus.publish_value(&subject!("invoice.raised"), "com.example.invoice.raised.v1", &invoice)
    ///     .subject_attribute("invoice-17")
    ///     .extension("tenant", "north")
    ///     .await
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`PublishError`]; [`PublishError::Value`] if the value cannot be encoded, or an attribute is not valid.
    pub fn publish_value<T: ?Sized>(&self, subject: &Subject, event_type: &str, value: &T) -> PublishValue<'_, B>
    where
        C: Encodes<T>,
    {
        let event = self.event(event_type, value);
        PublishValue::new(Origin::Bus(self.activation()), event.map(|event| (subject.clone(), event)))
    }

    /// Publishes a value of a topic: on its own subject, with its own event type and `dataschema`, and else as
    /// [`publish_value`](Self::publish_value) does (contract P2). Add [`when_room`](PublishValue::when_room) to wait for
    /// room instead of failing.
    ///
    /// # Errors
    /// See [`PublishError`]; [`PublishError::Topic`] if a field does not make a token of the subject, in which case
    /// nothing is sent.
    pub fn publish_topic<T: Topic + ?Sized>(&self, value: &T) -> PublishValue<'_, B>
    where
        C: Encodes<T>,
    {
        PublishValue::new(Origin::Bus(self.activation()), topic_event(value, self.event(T::EVENT_TYPE, value)))
    }

    /// Publishes many events, each on its subject, without waiting for one to be confirmed before the next is sent: up to
    /// 256 are under way at a time. They are begun in the order given, and each has its own outcome in the report. What is
    /// to be tried again is to be kept by the caller, for whom a clone costs next to nothing.
    ///
    /// ```
    /// # use tramline::{Bus, Event, Memory, Running, subject};
    /// # async fn publish(bus: Bus<Memory, Running>, events: Vec<Event>) {
    /// let subject = subject!("invoice.raised");
    /// let report = bus.publish_batch(events.into_iter().map(|event| (&subject, event))).await;
    /// for (index, error) in report.failures() {
    ///     eprintln!("event {index} was not published: {error}");
    /// }
    /// # }
    /// ```
    ///
    /// Add [`when_room`](PublishBatch::when_room) to wait for room instead of failing. The events of values come from
    /// [`event`](Self::event).
    pub fn publish_batch<'a, I>(&'a self, events: I) -> PublishBatch<'a, B>
    where
        I: IntoIterator<Item: Addressed + 'a, IntoIter: Send + 'a>,
    {
        PublishBatch::new(Origin::Bus(self.activation()), events)
    }

    /// Sends a request and waits for its reply, which is an event. It is sent with a deadline or not at all (contract R1):
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tramline::{Bus, Event, Running, bus::Request, contract::{AnswersRequests, RequestError}, subject};
    /// # async fn ask<B: AnswersRequests>(bus: Bus<B, Running>, question: Event) -> Result<(), RequestError> {
    /// let reply = bus.request(&subject!("price.of"), question).within(Duration::from_secs(2)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Add [`named`](Request::named) to count it under a name of its own. A stop does not wait for the reply: what is
    /// still in flight when the session closes fails (contract R3).
    ///
    /// # Errors
    /// See [`RequestError`](crate::contract::RequestError).
    pub fn request<'a>(&'a self, subject: &'a Subject, event: Event) -> Request<'a, Event, NoDeadline>
    where
        B: AnswersRequests,
    {
        request(&self.core, subject, event)
    }

    /// Sends a request that carries a value, as [`publish_value`](Bus::publish_value) would publish it, and decodes the
    /// value of the reply:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use serde::{Deserialize, Serialize};
    /// # use tramline::{Bus, Running, contract::{AnswersRequests, RequestError}, subject};
    /// # #[derive(Serialize)] struct PriceOf { article: u32 }
    /// # #[derive(Deserialize)] struct Price { cents: u64 }
    /// # async fn ask<B: AnswersRequests>(bus: Bus<B, Running>) -> Result<u64, RequestError> {
    /// let price: Price = bus
    ///     .request_value(&subject!("price.of"), "com.example.price.of.v1", &PriceOf { article: 17 })
    ///     .within(Duration::from_secs(2))
    ///     .await?;
    /// # Ok(price.cents)
    /// # }
    /// ```
    ///
    /// The value that is decoded owns what it holds; to borrow from the reply, take the event with
    /// [`request`](Self::request).
    ///
    /// # Errors
    /// See [`RequestError`](crate::contract::RequestError): [`Value`](crate::contract::RequestError::Value) if the value
    /// cannot be encoded, [`Undecodable`](crate::contract::RequestError::Undecodable) with the reply if that cannot be
    /// decoded.
    pub fn request_value<'a, R, T: ?Sized>(
        &'a self,
        subject: &'a Subject,
        event_type: &str,
        value: &T,
    ) -> Request<'a, R, NoDeadline>
    where
        B: AnswersRequests,
        C: Encodes<T> + for<'d> Decodes<'d, R>,
    {
        request_value::<B, C, R, T>(&self.core, subject, event_type, value)
    }

    /// The event that [`publish_value`](Self::publish_value) would publish, to be changed before it is built: for a batch,
    /// or to be kept (contract P2).
    ///
    /// # Errors
    /// [`PublishError::Value`] if the value cannot be encoded.
    pub fn event<T: ?Sized>(&self, event_type: &str, value: &T) -> Result<EventBuilder, PublishError>
    where
        C: Encodes<T>,
    {
        value_builder::<C, T>(&self.core.source, event_type.to_owned(), value)
    }

    /// A publisher that does not name the backend, cheap to clone, with defaults for what it publishes. It is checked at
    /// run time, as a handle is (contract Y5); before the start a handle gives one.
    pub fn publisher(&self) -> Publisher<C> {
        Publisher::new(self.core.clone())
    }

    /// Waits until every subscription is idle: nothing is queued, nothing waits for its next attempt, nothing is in hand,
    /// and each consumer has its source. There was such an instant, for all of them at once; a subscription that has
    /// [failed for good](super::ConsumerState::Failed) counts as idle.
    ///
    /// A stop does not drain, so who wants everything handled first waits for this:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tramline::{Bus, Memory, Running};
    /// # async fn drain(bus: Bus<Memory, Running>) {
    /// bus.idle().await;
    /// let stopped = bus.stop(Duration::from_secs(5)).await;
    /// # }
    /// ```
    ///
    /// It keeps nobody from publishing. Beside publishers that go on, the bus need not be idle any more when this returns,
    /// and if there is always something to do it does not return: bound it with a timeout. A publish that has returned is
    /// in a queue or is refused, and so is waited for. What a broker keeps and has not handed to this process, nobody here
    /// knows of; a broker's backlog is not waited for.
    ///
    /// Waiting costs deliveries nothing, and polls nothing in memory. Where queues live at a broker it looks again every
    /// second, since what a broker takes back wakes nobody.
    ///
    /// # Cancel safety
    /// It changes nothing, and may be dropped and called again, by any number of callers.
    pub async fn idle(&self) {
        idle(&self.core).await;
    }

    /// As [`idle`](Self::idle), but for each subscription this says of its counters whether it rests: for the feature
    /// `testing`.
    #[allow(dead_code, reason = "without the feature nobody asks")]
    pub(crate) async fn at_rest(&self, rests: impl Fn(&Stats) -> bool + Send + Sync) {
        at_rest(&self.core, rests).await;
    }

    fn activation(&self) -> &Activation<B> {
        let activation = self.running.as_ref().and_then(|lifeline| lifeline.activation.as_deref());
        activation.expect("a running bus has an activation")
    }

    /// Subscribes a handler without state on the running bus; it is supervised like the others, and is there after a
    /// stop and a start too (contract Y9).
    ///
    /// # Errors
    /// See [`AttachError`](super::AttachError); a setting that is only preferred and not offered is refused here (contract C31).
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

    /// Begins a responder on the running bus, in the group whose members compete for requests (contract R9).
    pub fn responder(&self, name: Name, group: Group) -> WantsSubject<BeginResponder<B, OnRunning<'_, B, C>>> {
        WantsSubject::responder(OnRunning(self), name, group)
    }

    /// Stops the bus within a budget, whatever its handlers do (contract Y7): publishing ends, nothing more is taken,
    /// handlers in hand finish and settle, sources retire, the session closes. The last tenth of the budget, at least
    /// 50 ms and at most 1 s, is kept for giving back: at its start handlers that are still waiting are cancelled.
    ///
    /// A handler that never yields is left behind, and its subscription is quarantined at the next start until it
    /// returns. That needs a free worker: on a current-thread runtime a handler that blocks its thread blocks the stop
    /// too (Y7b). Panics of handlers are caught only with `panic = "unwind"`.
    ///
    /// # Cancel safety
    /// The stop goes on if the future is dropped, but the dormant bus is dropped with it.
    pub async fn stop(mut self, budget: Duration) -> Stopped<B, C> {
        let activation = self.running.as_mut().and_then(|lifeline| lifeline.activation.take());
        let activation = activation.expect("a running bus has an activation");
        let core = self.core.clone();
        // Where the activation lives, wherever this is awaited.
        let runtime = activation.runtime.clone();
        let stopping = runtime.spawn(async move { activation::stop(&core, &activation, budget).await });
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
        tracing::warn!(name: "drop", target: "tramline", "a running bus was dropped without a stop");
        let (core, runtime) = (self.core.clone(), activation.runtime.clone());
        runtime.spawn(async move { activation::stop(&core, &activation, DROP_BUDGET).await });
    }
}

impl<B: Backend, L, C: Codec> fmt::Debug for Bus<B, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("status", &self.status()).finish_non_exhaustive()
    }
}
