//! A running bus under test.

use std::{fmt, ops::Deref, sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{
    seen::{Seen, TestDelivery, TestPublish},
    stage::Stage,
    stand_in::StandIn,
};
use crate::{
    Memory,
    bus::{BuildError, Bus, BusBuilder, Running, StartError, Stats, Stopped},
    codec::{Codec, Decodes, Json, decode},
    contract::Backend,
    event::Event,
    subject::Pattern,
};

/// How long a wait may take.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The budget of the stop in a [`TestBus::restart`].
const STOP_BUDGET: Duration = Duration::from_secs(30);

/// A service's bus under test, on a [`StandIn`] for its backend: a running [`Bus`] whose deliveries and publishes are
/// recorded, and can be made to fail.
pub struct TestBus<L: Backend = Memory, C: Codec = Json> {
    bus: Bus<StandIn<L>, Running, C>,
    pub(super) stage: Arc<Stage>,
}

/// Why a bus under test does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestBusError {
    /// It could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl<L: Backend, C: Codec> TestBus<L, C> {
    /// Builds and starts what a service's wiring has made.
    ///
    /// # Errors
    /// What the build refuses, or why it did not start.
    pub async fn start<S>(wired: BusBuilder<StandIn<L>, S, C>) -> Result<Self, TestBusError>
    where
        S: Send + Sync + 'static,
    {
        let mut stage = Arc::default();
        let watched = wired.watched_by(|backend| {
            stage = backend.stage.clone();
            backend.stage.clone()
        });
        let bus = watched.build()?.start().await.map_err(|not_started| not_started.error)?;
        Ok(Self { bus, stage })
    }

    /// Stops the service, and starts it again, as a deployment does. What was seen stays, and so does what is to go wrong.
    ///
    /// # Errors
    /// Why it did not start again.
    pub async fn restart(self) -> Result<Self, TestBusError> {
        let Self { bus, stage } = self;
        let Stopped { bus, .. } = bus.stop(STOP_BUDGET).await;
        let bus = bus.start().await.map_err(|not_started| not_started.error)?;
        Ok(Self { bus, stage })
    }

    /// Stops the service; see [`Bus::stop`].
    pub async fn stop(self, budget: Duration) -> Stopped<StandIn<L>, C> {
        self.bus.stop(budget).await
    }

    /// Waits until the service has nothing left to do: nothing is queued or in hand, nothing waits out a delay, and every
    /// consumer has its source, or has failed for good. Paused time goes on as far as that needs.
    ///
    /// What is published meanwhile by others than handlers may be waited for or not; see [`Bus::idle`].
    ///
    /// # Panics
    /// After a day, with what it waited for.
    ///
    /// # Cancel safety
    /// It changes nothing.
    pub async fn settled(&self) {
        let rests = |stats: &Stats| stats.pending == 0 && !self.stage.is_being_cut(&stats.name);
        self.wait("settled", self.bus.at_rest(rests)).await;
    }

    /// Waits until nothing is queued or in hand, and every consumer has its source, or has failed for good. What a handler
    /// declined and what waits out its delay is left waiting.
    ///
    /// # Panics
    /// After a day, with what it waited for.
    ///
    /// # Cancel safety
    /// It changes nothing.
    pub async fn handled(&self) {
        let rests =
            |stats: &Stats| stats.pending <= self.stage.held(&stats.name) && !self.stage.is_being_cut(&stats.name);
        self.wait("handled", self.bus.at_rest(rests)).await;
    }

    async fn wait(&self, what: &str, wait: impl Future<Output = ()>) {
        let in_time = timeout(LONGEST_WAIT, wait).await;
        assert!(
            in_time.is_ok(),
            "it is not {what} after a day:\n{}\n{:#?}\nwhat was seen:\n{}",
            self.bus.ledger(),
            self.bus.status().consumers,
            self.deliveries()
        );
    }

    /// What came to handlers so far, in the order in which they were done with it.
    pub fn deliveries(&self) -> Seen<TestDelivery> {
        self.stage.deliveries(None)
    }

    /// What came to the handler of one subscription so far.
    ///
    /// # Panics
    /// If there is no such subscription; the message has those there are.
    #[track_caller]
    pub fn delivered_to(&self, subscription: &str) -> Seen<TestDelivery> {
        self.stage.with(subscription, |_| ());
        self.stage.deliveries(Some(subscription))
    }

    /// What was published and requested so far, by the test and by the service.
    pub fn published(&self) -> Seen<TestPublish> {
        self.stage.publishes(None)
    }

    /// The same on the subjects that a pattern selects; a subject is a pattern.
    ///
    /// # Panics
    /// If it is no valid pattern.
    #[track_caller]
    pub fn published_on(&self, pattern: &str) -> Seen<TestPublish> {
        self.stage.publishes(Some(&valid(pattern)))
    }

    /// Forgets what was seen so far.
    pub fn forget(&self) {
        self.stage.forget();
    }

    /// The value that an event carries, by the codec of the bus.
    ///
    /// # Panics
    /// If it carries no such value.
    #[track_caller]
    pub fn value<T>(&self, event: &Event) -> T
    where
        C: for<'d> Decodes<'d, T>,
    {
        match decode::<C, T>(event) {
            Ok(value) => value,
            Err(error) => {
                let why = std::error::Error::source(&error).map(|why| format!(": {why}")).unwrap_or_default();
                panic!("{event:?} carries no `{}`: {error}{why}", std::any::type_name::<T>())
            }
        }
    }
}

/// A pattern of a test's.
#[track_caller]
pub(super) fn valid(pattern: &str) -> Pattern {
    Pattern::new(pattern).unwrap_or_else(|error| panic!("`{pattern}` is no pattern: {error}"))
}

impl<L: Backend, C: Codec> Deref for TestBus<L, C> {
    type Target = Bus<StandIn<L>, Running, C>;

    fn deref(&self) -> &Self::Target {
        &self.bus
    }
}

impl<L: Backend, C: Codec> fmt::Debug for TestBus<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestBus").field("bus", &self.bus).finish_non_exhaustive()
    }
}
