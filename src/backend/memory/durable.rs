//! The two halves of a source that delivers at least once, and the settler of its deliveries.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::{
    task::coop::poll_proceed,
    time::{Sleep, sleep_until},
};

use super::{
    hands::Token,
    owed::{Found, Owed, Seat},
    session::Routing,
};
use crate::contract::{
    FinalReading, Incoming, Outcome, RetireError, RetireReason, Settle, SettleError, Settlement, Source, SourceControl,
    SourceStats,
};

/// What a subscription in memory reads from, at least once.
///
/// When both halves are dropped without a retire, the source ends as if its consumer were to restart: what its identity
/// is owed waits for the next source.
#[derive(Debug)]
pub struct MemoryDurableSource {
    deliveries: MemoryDurableDeliveries,
    control: MemoryDurableControl,
}

impl MemoryDurableSource {
    pub(super) fn new(routing: Arc<Routing>, owed: Arc<Owed>, seat: Arc<Seat>) -> Self {
        let place = Arc::new(Place { routing, owed, seat });
        let control = MemoryDurableControl { place: Arc::clone(&place) };
        Self { deliveries: MemoryDurableDeliveries { place, timer: None }, control }
    }
}

impl Source for MemoryDurableSource {
    type Settler = MemorySettler;
    type Deliveries = MemoryDurableDeliveries;
    type Control = MemoryDurableControl;

    fn split(self) -> (MemoryDurableDeliveries, MemoryDurableControl) {
        (self.deliveries, self.control)
    }
}

/// The messages of one durable identity that this source gets: first attempts in the order in which they were accepted,
/// further ones behind what is queued when they come back.
///
/// Each takes one unit of the task's cooperative budget, so an always-ready source starves nobody on its thread.
pub struct MemoryDurableDeliveries {
    place: Arc<Place>,
    /// For the first delay to end, made when there is the first one.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stream for MemoryDurableDeliveries {
    type Item = Incoming<MemorySettler>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let unit = ready!(poll_proceed(cx));
        loop {
            let Self { place, timer } = &mut *self;
            let due = match place.owed.take(&place.seat, cx) {
                Found::Offer(message, attempt, token) => {
                    unit.made_progress();
                    let settler = MemorySettler { owed: Some(Arc::clone(&place.owed)), token };
                    return Poll::Ready(Some(Incoming::of(message, settler).attempt(attempt)));
                }
                Found::Ended => {
                    unit.made_progress();
                    return Poll::Ready(None);
                }
                Found::Nothing(None) => return Poll::Pending,
                Found::Nothing(Some(due)) => due,
            };
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
            if timer.deadline() != due {
                timer.as_mut().reset(due);
            }
            ready!(timer.as_mut().poll(cx));
        }
    }
}

impl fmt::Debug for MemoryDurableDeliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryDurableDeliveries").finish_non_exhaustive()
    }
}

/// Reads the counters of one source, and ends it.
pub struct MemoryDurableControl {
    place: Arc<Place>,
}

impl SourceControl for MemoryDurableControl {
    fn snapshot(&self) -> SourceStats {
        self.place.owed.stats(&self.place.seat)
    }

    /// What the identity is owed waits for its next source while the session lives, except when its last source is given
    /// up: then it is dropped, and nothing reaches the identity any more.
    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(self.place.retire(reason)))
    }
}

impl fmt::Debug for MemoryDurableControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryDurableControl").field("stats", &self.snapshot()).finish()
    }
}

/// A source's place at its identity, given up by a retire or with the last half of the source.
struct Place {
    routing: Arc<Routing>,
    owed: Arc<Owed>,
    seat: Arc<Seat>,
}

impl Place {
    fn retire(&self, reason: RetireReason) -> SourceStats {
        self.routing.retire(&self.owed, &self.seat, reason)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.retire(RetireReason::Restarting);
    }
}

/// Settles one delivery. Dropped, it gives the delivery back.
#[derive(Debug)]
pub struct MemorySettler {
    /// None once it has settled.
    owed: Option<Arc<Owed>>,
    token: Token,
}

impl MemorySettler {
    fn perform(&mut self, settlement: Settlement) -> Result<(), SettleError> {
        match self.owed.take() {
            Some(owed) => owed.settle(self.token, settlement).map_err(SettleError::new),
            None => Ok(()),
        }
    }
}

impl Settle for MemorySettler {
    /// Waits for nothing.
    async fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        self.perform(settlement)
    }
}

impl Drop for MemorySettler {
    fn drop(&mut self) {
        // Nobody is there to be told of a refusal.
        let _ = self.perform(Settlement::new(Outcome::Returned));
    }
}
