//! A bus in the making.

use std::{marker::PhantomData, num::NonZeroU32, sync::Arc};

use super::{
    BuildError, Bus, DroppedSetting,
    checks::{degrade, refusals, repeated, warn_of_no_restart},
    consumer::{Consumer, Observers, Typed},
    core::Core,
    lifecycle::Dormant,
    traces::Traces,
    watch::Watcher,
};
use crate::{
    codec::{Codec, Json},
    contract::Backend,
    event::UriReference,
    subject::{DurableName, Group, Name},
    subscription::{
        BeginAtLeastOnce, BeginAtMostOnce, BeginResponder, Collects, Cx, Given, Handler, RunsOn, Settings,
        Subscription, WantsSubject, sealed::Sealed,
    },
    trace::Propagator,
};

/// A bus in the making: backend `B`, state `S`, codec `C`.
#[must_use = "a bus is made by `.build()`"]
pub struct BusBuilder<B: Backend, S = (), C = Json> {
    backend: B,
    source: UriReference,
    state: Arc<S>,
    subscriptions: Vec<(Settings, Box<dyn Consumer<B>>)>,
    request_names: Vec<Name>,
    observers: Observers,
    codec: PhantomData<fn() -> C>,
}

impl<B: Backend> BusBuilder<B> {
    pub(super) fn new(backend: B, source: UriReference) -> Self {
        Self {
            backend,
            source,
            state: Arc::new(()),
            subscriptions: Vec::new(),
            request_names: Vec::new(),
            observers: Observers::default(),
            codec: PhantomData,
        }
    }
}

impl<B: Backend, S: Send + Sync + 'static, C: Codec> BusBuilder<B, S, C> {
    /// Gives handlers their state, for all subscriptions that follow. Parts of it are taken by
    /// [`State`](crate::State).
    pub fn state<T: Send + Sync + 'static>(self, state: T) -> BusBuilder<B, T, C> {
        BusBuilder {
            backend: self.backend,
            source: self.source,
            state: Arc::new(state),
            subscriptions: self.subscriptions,
            request_names: self.request_names,
            observers: self.observers,
            codec: PhantomData,
        }
    }

    /// Takes another codec, for all subscriptions that follow and for publishing (contract P1).
    pub fn codec<D: Codec>(self, _codec: D) -> BusBuilder<B, S, D> {
        BusBuilder {
            backend: self.backend,
            source: self.source,
            state: self.state,
            subscriptions: self.subscriptions,
            request_names: self.request_names,
            observers: self.observers,
            codec: PhantomData,
        }
    }

    /// Subscribes a handler that `#[subscription]` or `#[responder]` has made of a function. What it asks for is checked
    /// against the backend, and what it takes against the bus's state and codec.
    pub fn subscribe<H: Subscription>(mut self, handler: H) -> Self
    where
        Given<H::Mode, H>: RunsOn<B> + Handler<Cx<S, C>>,
    {
        let settings = handler.settings();
        let consumer = Typed::<H, Cx<S, C>>::new(handler, self.state.clone());
        self.subscriptions.push((settings, Box::new(consumer)));
        self
    }

    /// Begins a subscription at most once that is made at run time.
    pub fn at_most_once(self, name: Name) -> WantsSubject<BeginAtMostOnce<B, Self>> {
        WantsSubject::at_most_once(self, name)
    }

    /// Begins a subscription at least once that is made at run time, under a durable name and with so many attempts.
    pub fn at_least_once(
        self,
        name: Name,
        durable: DurableName,
        max_deliver: NonZeroU32,
    ) -> WantsSubject<BeginAtLeastOnce<B, Self>> {
        WantsSubject::at_least_once(self, name, durable, max_deliver)
    }

    /// Begins a responder that is made at run time, in the group whose members compete for requests (contract R9).
    pub fn responder(self, name: Name, group: Group) -> WantsSubject<BeginResponder<B, Self>> {
        WantsSubject::responder(self, name, group)
    }

    /// Declares names for requests, so that each has counters of its own (contract R5). A request takes one with
    /// [`named`](super::Request::named); those without one, and with another, share theirs.
    ///
    /// ```
    /// # use tramline::{Bus, Memory, name, source};
    /// let bus = Bus::builder(Memory::new(), source!("urn:example:shop"))
    ///     .request_names([name!("pricing"), name!("stock")])
    ///     .build()?;
    /// assert!(bus.ledger().requests.get("pricing").is_some());
    /// # Ok::<(), tramline::bus::BuildError>(())
    /// ```
    pub fn request_names(mut self, names: impl IntoIterator<Item = Name>) -> Self {
        self.request_names.extend(names);
        self
    }

    /// Carries traces from publisher to handler (module [`trace`](crate::trace)): what is published, asked and replied
    /// carries the current one, and each delivery's span is linked to the one that its event carries. Without this, nothing
    /// is carried.
    pub fn trace_context(self, propagator: impl Propagator) -> Self {
        Self { observers: Observers { traces: Traces::new(propagator), ..self.observers }, ..self }
    }

    /// The backend, and who is to watch the deliveries: for the feature `testing`.
    #[allow(dead_code, reason = "without the feature nobody watches")]
    pub(crate) fn watched_by(self, watcher: impl FnOnce(&B) -> Arc<dyn Watcher>) -> Self {
        let watcher = Some(watcher(&self.backend));
        Self { observers: Observers { watcher, ..self.observers }, ..self }
    }

    /// Checks what only the whole set shows, and makes the bus. A bus may have no subscriptions.
    ///
    /// # Errors
    /// Every refusal, each with the subscription, the setting and the fix.
    pub fn build(mut self) -> Result<Bus<B, Dormant, C>, BuildError> {
        let mut refusals = refusals(self.subscriptions.iter().map(|(settings, _)| settings), &B::CAPABILITIES);
        refusals.extend(repeated(&self.request_names));
        if !refusals.is_empty() {
            return Err(BuildError { refusals });
        }
        let mut dropped = Vec::new();
        for (settings, _) in &mut self.subscriptions {
            if let Some(setting) = degrade(settings, &B::CAPABILITIES) {
                let DroppedSetting { subscription, setting: name, value } = &setting;
                tracing::warn!(
                    name: "degrade",
                    target: "tramline",
                    %subscription,
                    setting = name,
                    value,
                    "{setting}"
                );
                dropped.push(setting);
            }
            warn_of_no_restart(settings);
        }
        let Self { backend, source, subscriptions, request_names, observers, .. } = self;
        Ok(Bus::new(Core::new(backend, source, subscriptions, request_names, observers), dropped))
    }
}

impl<B: Backend, S, C> Sealed for BusBuilder<B, S, C> {}

impl<B: Backend, S: Send + Sync + 'static, C: Codec> Collects<B> for BusBuilder<B, S, C> {
    type Context = Cx<S, C>;
    type Collected = Self;

    fn collect<H: RunsOn<B> + Handler<Cx<S, C>>>(self, handler: H) -> Self {
        self.subscribe(handler)
    }
}

impl<B: Backend, S, C> std::fmt::Debug for BusBuilder<B, S, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.subscriptions.iter().map(|(settings, _)| &settings.name).collect();
        f.debug_struct("BusBuilder").field("subscriptions", &names).finish_non_exhaustive()
    }
}
