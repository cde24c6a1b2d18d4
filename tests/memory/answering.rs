//! Responders and requests, as tests look at them.

use std::{num::NonZeroUsize, time::Duration};

use futures_util::{FutureExt, StreamExt};
use tokio::task::unconstrained;
use tramline::{
    Event, Group, Name, Pattern,
    backend::memory::{
        Memory, MemoryReplier, MemoryRequestDeliveries, MemoryRequests, MemoryResponderControl, MemorySession,
    },
    contract::{
        AnswersRequests, FailureReason, FailureReply, Reply, ReplyError, RequestError, ResponderSpec, RetireReason,
        Source, SourceControl, SourceId, SourceStats, SubscribeError,
    },
    source,
};

use crate::support::{counts, event, subject};

/// The deadline of a request that is not to meet it.
pub(crate) const LONG: Duration = Duration::from_secs(3_600);

/// What a test answers on, in short.
#[derive(Clone)]
pub(crate) struct Answers {
    pub(crate) pattern: &'static str,
    pub(crate) group: &'static str,
    pub(crate) bound: usize,
}

pub(crate) fn answers(pattern: &'static str) -> Answers {
    Answers { pattern, group: "g", bound: 256 }
}

impl Answers {
    pub(crate) fn group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    pub(crate) fn bound(self, bound: usize) -> Self {
        Self { bound, ..self }
    }

    pub(crate) async fn try_on(&self, session: &MemorySession) -> Result<MemoryRequests, SubscribeError> {
        let spec = ResponderSpec::new(
            SourceId::new(1, 0, 0),
            Name::new("responder").unwrap(),
            Pattern::new(self.pattern).unwrap(),
            Group::new(self.group).unwrap(),
            NonZeroUsize::new(self.bound).unwrap(),
            FailureReply::new(source!("urn:test:responder")),
        );
        Memory::responder(session, spec).await
    }

    pub(crate) async fn on(&self, session: &MemorySession) -> Responder {
        let (deliveries, control) = self.try_on(session).await.expect("memory answers").split();
        Responder { deliveries, control }
    }
}

/// A responder's source.
pub(crate) struct Responder {
    pub(crate) deliveries: MemoryRequestDeliveries,
    pub(crate) control: MemoryResponderControl,
}

impl Responder {
    /// The next delivery, if one is there: its event, and its reply address.
    pub(crate) fn try_next(&mut self) -> Option<(Event, Option<MemoryReplier>)> {
        let incoming = unconstrained(self.deliveries.next()).now_or_never()??;
        Some((incoming.message.expect("memory carries events only").event, incoming.settler.into_replier()))
    }

    /// The reply address of the next delivery, which is a request.
    pub(crate) fn take(&mut self) -> MemoryReplier {
        self.try_next().expect("there is a request").1.expect("it was requested")
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(unconstrained(self.deliveries.next()).now_or_never(), Some(None))
    }

    pub(crate) fn stats(&self) -> SourceStats {
        let stats = self.control.snapshot();
        assert_eq!(stats.accepted, stats.handed_over() + stats.pending + stats.evicted, "L2: {stats:?}");
        stats
    }

    /// Accepted, pending, refused, evicted.
    pub(crate) fn counts(&self) -> [u64; 4] {
        counts(self.stats())
    }

    pub(crate) async fn retire(&self) -> SourceStats {
        let last = self.control.retire(RetireReason::Stopping).await.expect("memory retires");
        assert!(last.cause.is_none(), "a source that is retired has no cause");
        last.stats
    }
}

/// Sends a request to `a`.
pub(crate) async fn request(
    session: &MemorySession,
    id: impl ToString,
    within: Duration,
) -> Result<Event, RequestError> {
    Memory::request(session, &subject("a"), event(id), within).await
}

/// The reply to the request of this id.
pub(crate) fn reply_to(id: &str) -> Event {
    event(format!("reply to {id}"))
}

pub(crate) fn reply(replier: MemoryReplier, reply: Event) -> Result<(), ReplyError> {
    replier.reply(reply).now_or_never().expect("memory waits for nothing")
}

pub(crate) fn failure(result: &Result<Event, RequestError>) -> Option<FailureReason> {
    result.as_ref().ok().and_then(FailureReason::of)
}
