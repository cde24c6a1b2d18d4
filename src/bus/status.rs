//! Where a bus and its consumers stand, as one coherent reading.

use std::{fmt, sync::Arc};

use serde::Serialize;
use tokio::sync::watch;

use crate::subject::Name;

/// One coherent reading of a bus (contract Y4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The activation that is live, or the last one: it grows by one per successful start, and is 0 before the first.
    pub generation: u64,
    /// Where the bus stands.
    pub state: BusState,
    /// Why the last start failed or the last stop was not clean, if so.
    pub cause: Option<Arc<str>>,
    /// Where each consumer stands, in the order in which they were subscribed.
    pub consumers: Vec<ConsumerStatus>,
}

/// Where a bus stands (contract Y1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum BusState {
    /// Connected to nothing.
    Dormant,
    /// Opening the session and subscribing.
    Starting,
    /// Every subscription is confirmed.
    Running,
    /// Giving everything back.
    Stopping,
}

/// Where one consumer stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConsumerStatus {
    /// The subscription.
    pub name: Name,
    /// Where it stands.
    pub state: ConsumerState,
    /// Why it failed last, if it did.
    pub cause: Option<Arc<str>>,
}

/// Where a consumer stands (contract Y10). Kept on a board that outlives the activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum ConsumerState {
    /// It was never started, or is being started again after a failure.
    Unknown,
    /// It reads its source.
    Running,
    /// A handler of an earlier source never yielded and still runs: no source until it returns (Y7).
    Quarantined,
    /// It was stopped with the bus.
    Stopped,
    /// It has failed for good (V5).
    Failed,
}

/// Whether a subscription has failed for good (contract H2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Health {
    /// None has.
    Healthy,
    /// These have.
    Degraded {
        /// The subscriptions that have failed.
        failed: Vec<Name>,
    },
}

impl Health {
    /// Whether no subscription has failed for good.
    pub const fn is_healthy(&self) -> bool {
        matches!(self, Self::Healthy)
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Healthy => f.write_str("healthy"),
            Self::Degraded { failed } => {
                f.write_str("degraded: ")?;
                for (index, name) in failed.iter().enumerate() {
                    write!(f, "{}{name}", if index > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

impl Status {
    /// Read from the board (contract H2).
    pub fn health(&self) -> Health {
        let failed = self.consumers.iter().filter(|consumer| consumer.state == ConsumerState::Failed);
        let failed: Vec<_> = failed.map(|consumer| consumer.name.clone()).collect();
        if failed.is_empty() { Health::Healthy } else { Health::Degraded { failed } }
    }
}

/// Waits for the changes of a [`Status`] without missing one that lasts.
#[derive(Debug, Clone)]
pub struct StatusChanges(watch::Receiver<Status>);

impl StatusChanges {
    /// The reading now; it counts as seen.
    pub fn current(&mut self) -> Status {
        self.0.borrow_and_update().clone()
    }

    /// The next reading that differs from the one seen last; `None` when the bus and all its handles are gone. Readings that are overtaken
    /// by a newer one before anybody looks are skipped.
    ///
    /// # Cancel safety
    /// Nothing is seen that is not returned.
    pub async fn changed(&mut self) -> Option<Status> {
        self.0.changed().await.ok()?;
        Some(self.current())
    }

    /// Waits until a reading fulfils this, and returns it; `None` when the bus and all its handles are gone.
    ///
    /// # Cancel safety
    /// As [`changed`](StatusChanges::changed).
    pub async fn wait_for(&mut self, mut fulfilled: impl FnMut(&Status) -> bool) -> Option<Status> {
        // On a copy: under the board's lock the caller's code could not ask the bus for its status.
        let mut status = self.current();
        while !fulfilled(&status) {
            status = self.changed().await?;
        }
        Some(status)
    }
}

/// The board that the readings are taken from.
pub(super) struct Board(watch::Sender<Status>);

impl Board {
    pub(super) fn new(consumers: impl Iterator<Item = Name>) -> Self {
        let consumers = consumers.map(unknown).collect();
        Self(watch::Sender::new(Status { generation: 0, state: BusState::Dormant, cause: None, consumers }))
    }

    pub(super) fn status(&self) -> Status {
        self.0.borrow().clone()
    }

    pub(super) fn changes(&self) -> StatusChanges {
        StatusChanges(self.0.subscribe())
    }

    pub(super) fn bus(&self, state: BusState, cause: Option<String>) {
        self.0.send_modify(|status| {
            status.state = state;
            status.cause = cause.map(Into::into);
        });
    }

    /// An activation is live.
    pub(super) fn running(&self, generation: u64) {
        self.0.send_modify(|status| {
            status.generation = generation;
            status.state = BusState::Running;
            status.cause = None;
        });
    }

    /// A consumer changes its state; without a cause the last one stays.
    pub(super) fn consumer(&self, name: &Name, state: ConsumerState, cause: Option<&str>) {
        self.0.send_if_modified(|status| {
            let Some(consumer) = status.consumers.iter_mut().find(|consumer| consumer.name == *name) else {
                return false;
            };
            let changed = consumer.state != state || cause.is_some();
            consumer.state = state;
            if let Some(cause) = cause {
                consumer.cause = Some(cause.into());
            }
            changed
        });
    }

    pub(super) fn add(&self, name: Name) {
        self.0.send_modify(|status| status.consumers.push(unknown(name)));
    }

    pub(super) fn remove(&self, name: &Name) {
        self.0.send_modify(|status| status.consumers.retain(|consumer| consumer.name != *name));
    }
}

fn unknown(name: Name) -> ConsumerStatus {
    ConsumerStatus { name, state: ConsumerState::Unknown, cause: None }
}
