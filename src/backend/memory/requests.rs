//! A responder's source, and the reply address of each request in it.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::task::coop::poll_proceed;

use super::{
    asked::Asked,
    group::Members,
    queue::{Admission, Item, Receiver},
    route::Reached,
    source::Place,
};
use crate::{
    contract::{
        FailureReason, FailureReply, FinalReading, Incoming, Message, Reply, ReplyError, ReplyTo, RetireError,
        RetireReason, Source, SourceControl, SourceStats,
    },
    event::Event,
    subject::Subject,
};

/// What waits in a responder's queue: a request, or a message that was published.
#[derive(Debug)]
pub(super) struct Request {
    message: Message,
    replier: Option<MemoryReplier>,
}

impl Item for Request {
    type Terms = FailureReply;

    /// A retire answers all of them.
    const ONE_BY_ONE: bool = true;
}

/// Hands a message to one member; with a reply address if it was requested. A member that is full turns a request away
/// with a failure reply (contract R10). Gives it back if all of them are gone.
///
/// Not generic, so that the way of every publish holds no more of it than the call.
pub(super) fn offer(
    members: &Members<Request>,
    subject: &Subject,
    event: Event,
    asked: Option<&Arc<Asked>>,
) -> Reached {
    match members.admit() {
        Admission::Room(slot) => {
            let message = Message { subject: subject.clone(), event };
            let replier =
                asked.map(|asked| MemoryReplier { asked: Some(Arc::clone(asked)), failure: slot.terms().clone() });
            slot.put(Request { message, replier }).now();
            Reached::Everybody
        }
        Admission::Full(full) => {
            let failure = full.terms();
            full.refuse();
            if let Some(asked) = asked {
                // After a close there is nobody to be told.
                let _ = asked.answer(failure.event(FailureReason::Full));
            }
            Reached::Everybody
        }
        Admission::Gone => Reached::Nobody(event),
    }
}

/// What a responder in memory reads from.
///
/// When both halves are dropped without a retire, the responder leaves the routing too.
#[derive(Debug)]
pub struct MemoryRequests {
    deliveries: MemoryRequestDeliveries,
    control: MemoryResponderControl,
}

impl MemoryRequests {
    pub(super) fn new(place: Place<Request>, receiver: Receiver<Request>) -> Self {
        let place = Arc::new(place);
        let control = MemoryResponderControl { place: Arc::clone(&place) };
        Self { deliveries: MemoryRequestDeliveries { receiver, _place: place }, control }
    }
}

impl Source for MemoryRequests {
    type Settler = ReplyTo<MemoryReplier>;
    type Deliveries = MemoryRequestDeliveries;
    type Control = MemoryResponderControl;

    fn split(self) -> (MemoryRequestDeliveries, MemoryResponderControl) {
        (self.deliveries, self.control)
    }
}

/// The requests of one source, and what was published to its subjects, in the order in which they were accepted.
///
/// Each takes one unit of the task's cooperative budget, so an always-ready source starves nobody on its thread.
pub struct MemoryRequestDeliveries {
    receiver: Receiver<Request>,
    _place: Arc<Place<Request>>,
}

impl Stream for MemoryRequestDeliveries {
    type Item = Incoming<ReplyTo<MemoryReplier>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let unit = ready!(poll_proceed(cx));
        let next = ready!(self.receiver.poll_next(cx));
        unit.made_progress();
        Poll::Ready(next.map(|Request { message, replier }| {
            Incoming::of(message, replier.map_or_else(ReplyTo::nobody, ReplyTo::request))
        }))
    }
}

impl fmt::Debug for MemoryRequestDeliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRequestDeliveries").finish_non_exhaustive()
    }
}

/// Reads the counters of one responder's source, and ends it.
pub struct MemoryResponderControl {
    place: Arc<Place<Request>>,
}

impl SourceControl for MemoryResponderControl {
    fn snapshot(&self) -> SourceStats {
        self.place.stats()
    }

    /// The backlog is the reading's `pending`, and each request in it has its failure reply when this returns, whatever
    /// the reason.
    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(self.place.give_up()))
    }
}

impl fmt::Debug for MemoryResponderControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryResponderControl").field("stats", &self.snapshot()).finish()
    }
}

/// Answers one request. Dropped unused, it answers that its responder stopped.
pub struct MemoryReplier {
    /// None once it has answered.
    asked: Option<Arc<Asked>>,
    failure: FailureReply,
}

impl Reply for MemoryReplier {
    /// Waits for nothing.
    async fn reply(mut self, event: Event) -> Result<(), ReplyError> {
        self.asked.take().map_or(Ok(()), |asked| asked.answer(event)).map_err(ReplyError::new)
    }
}

impl Drop for MemoryReplier {
    fn drop(&mut self) {
        if let Some(asked) = self.asked.take() {
            // After a close there is nobody to be told.
            let _ = asked.answer(self.failure.event(FailureReason::Stopping));
        }
    }
}

impl fmt::Debug for MemoryReplier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryReplier").finish_non_exhaustive()
    }
}
