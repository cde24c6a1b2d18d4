//! The two halves of a source: the stream that a consumer reads, and the control that its supervisor keeps.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::task::coop::poll_proceed;

use super::{
    membership::Member,
    queue::{Queue, Receiver},
    session::Routing,
};
use crate::contract::{
    FinalReading, Incoming, Message, NothingToSettle, RetireError, RetireReason, Source, SourceControl, SourceStats,
};

/// What a subscription in memory reads from, at most once.
///
/// When both halves are dropped without a retire, the subscription leaves the routing too.
#[derive(Debug)]
pub struct MemorySource {
    deliveries: MemoryDeliveries,
    control: MemorySourceControl,
}

impl MemorySource {
    pub(super) fn new(place: Place, receiver: Receiver) -> Self {
        let place = Arc::new(place);
        let control = MemorySourceControl { place: Arc::clone(&place) };
        Self { deliveries: MemoryDeliveries { receiver, _place: place }, control }
    }
}

impl Source for MemorySource {
    type Settler = NothingToSettle;
    type Deliveries = MemoryDeliveries;
    type Control = MemorySourceControl;

    fn split(self) -> (MemoryDeliveries, MemorySourceControl) {
        (self.deliveries, self.control)
    }
}

/// The messages of one source, in the order in which they were accepted.
///
/// Each takes one unit of the task's cooperative budget, so an always-ready source starves nobody on its thread.
pub struct MemoryDeliveries {
    receiver: Receiver,
    _place: Arc<Place>,
}

impl Stream for MemoryDeliveries {
    type Item = Incoming<NothingToSettle>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let unit = ready!(poll_proceed(cx));
        let next = ready!(self.receiver.poll_next(cx));
        unit.made_progress();
        Poll::Ready(next.map(|message| Incoming::of(message, NothingToSettle)))
    }
}

impl fmt::Debug for MemoryDeliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryDeliveries").finish_non_exhaustive()
    }
}

/// Reads the counters of one source, and ends it.
pub struct MemorySourceControl {
    place: Arc<Place>,
}

impl SourceControl for MemorySourceControl {
    fn snapshot(&self) -> SourceStats {
        self.place.stats()
    }

    /// At most once, a backlog is lost with its source whatever the reason: it is the reading's `pending`.
    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(self.place.give_up()))
    }
}

impl fmt::Debug for MemorySourceControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySourceControl").field("stats", &self.snapshot()).finish()
    }
}

/// A queue's place in the routing, given up by a retire or with the last half of its source.
pub(super) struct Place<T: Member = Message> {
    routing: Arc<Routing>,
    target: u64,
    queue: Arc<Queue<T>>,
}

impl<T: Member> Place<T> {
    pub(super) fn new(routing: Arc<Routing>, target: u64, queue: Arc<Queue<T>>) -> Self {
        Self { routing, target, queue }
    }

    pub(super) fn stats(&self) -> SourceStats {
        self.queue.stats()
    }

    pub(super) fn give_up(&self) -> SourceStats {
        self.routing.leave(self.target, &self.queue);
        self.queue.retire()
    }
}

impl<T: Member> Drop for Place<T> {
    fn drop(&mut self) {
        self.give_up();
    }
}
