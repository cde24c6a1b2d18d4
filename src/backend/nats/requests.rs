//! Request and reply: asking, what a responder reads, and how it answers.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use async_nats::Message as Wire;
use futures_core::Stream;
use futures_util::FutureExt;
use tokio::{task::unconstrained, time::timeout};

use super::{
    link::{Link, NotSent},
    replies::Answer,
    source::{Feed, Hold, Parcel, Wanted},
    wire::{Reader, address},
};
use crate::{
    contract::{
        FailureReason, FailureReply, FinalReading, Incoming, Overflow, Reply, ReplyError, ReplyTo, RequestError,
        ResponderSpec, RetireError, RetireReason, Source, SourceControl, SourceStats, SubscribeError,
    },
    event::Event,
    subject::Subject,
};

/// Sends a request and waits for its reply.
pub(in crate::backend) async fn request(
    link: &Link,
    subject: &Subject,
    event: &Event,
    within: Duration,
) -> Result<Event, RequestError> {
    let subject = address(subject);
    let mut waiting = link.desk().ask(Some(subject.clone()));
    let reply = waiting.reply().clone();
    let answered = async {
        link.send(subject, Some(reply), event).await.map_err(not_asked)?;
        tokio::select! {
            biased;
            answer = waiting.answer() => answer.ok_or(RequestError::Closed),
            () = link.closed().cancelled() => Err(RequestError::Closed),
        }
    };
    match timeout(within, answered).await {
        Ok(Ok(Answer::Message(reply))) => {
            link.read(reply).map_err(|malformed| RequestError::Value { source: malformed.into() })
        }
        Ok(Ok(Answer::Nothing)) => Err(RequestError::NoResponders),
        Ok(Ok(Answer::Denied(denied))) => Err(RequestError::Failed { source: denied.into() }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(RequestError::NoReply { within }),
    }
}

fn not_asked(error: NotSent) -> RequestError {
    match error {
        NotSent::Closed | NotSent::Late => RequestError::Closed,
        NotSent::TooLarge { size, limit } => RequestError::TooLarge { size, limit },
        error => RequestError::Failed { source: error.into() },
    }
}

/// A message that came to a responder, and how to answer it if it is a request.
#[derive(Debug)]
pub(super) struct Asked {
    message: Wire,
    replier: Option<NatsReplier>,
}

impl Parcel for Asked {
    type Terms = FailureReply;

    fn pack(message: Wire, link: &Arc<Link>, failure: &FailureReply) -> Self {
        let open = |subject: async_nats::Subject| Open { link: Arc::clone(link), subject, failure: failure.clone() };
        let replier = message.reply.clone().map(|subject| NatsReplier(Some(open(subject))));
        Self { message, replier }
    }

    /// Says so at once (contract R10).
    fn shed(mut self) {
        if let Some(open) = self.replier.as_mut().and_then(|replier| replier.0.take()) {
            open.fail(FailureReason::Full);
        }
    }
}

/// What a responder on NATS reads from.
///
/// When both halves are dropped without a retire, it unsubscribes too.
#[derive(Debug)]
pub struct NatsRequests(Arc<Hold<Asked>>);

impl NatsRequests {
    /// Subscribes as a member of the group.
    pub(in crate::backend) async fn open(link: &Arc<Link>, spec: ResponderSpec) -> Result<Self, SubscribeError> {
        let wanted = Wanted {
            name: &spec.name,
            pattern: &spec.pattern,
            group: Some(&spec.group),
            bound: spec.bound,
            overflow: Overflow::ShedNewest,
            terms: spec.failure,
        };
        Ok(Self(Arc::new(Feed::open(link, wanted).await?)))
    }
}

impl Source for NatsRequests {
    type Settler = ReplyTo<NatsReplier>;
    type Deliveries = NatsRequestDeliveries;
    type Control = NatsResponderControl;

    fn split(self) -> (NatsRequestDeliveries, NatsResponderControl) {
        (NatsRequestDeliveries { hold: Arc::clone(&self.0), reader: Reader::default() }, NatsResponderControl(self.0))
    }
}

/// The requests of one source, and what was published to its subjects, in the order in which they came.
///
/// Each takes one unit of the task's cooperative budget, so an always-ready source starves nobody on its thread.
#[derive(Debug)]
pub struct NatsRequestDeliveries {
    hold: Arc<Hold<Asked>>,
    reader: Reader,
}

impl Stream for NatsRequestDeliveries {
    type Item = Incoming<ReplyTo<NatsReplier>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.hold.poll_next(cx));
        Poll::Ready(next.map(|Asked { message, replier }| {
            let reply_to = replier.map_or_else(ReplyTo::nobody, ReplyTo::request);
            match self.reader.message(message) {
                Ok(message) => Incoming::of(message, reply_to),
                Err(malformed) => Incoming::malformed(malformed, reply_to),
            }
        }))
    }
}

/// Reads the counters of one responder's source, and ends it.
#[derive(Debug)]
pub struct NatsResponderControl(Arc<Hold<Asked>>);

impl SourceControl for NatsResponderControl {
    fn snapshot(&self) -> SourceStats {
        self.0.stats()
    }

    /// The backlog is the reading's `pending`, and each request in it has its failure reply, whatever the reason.
    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(self.0.retire().await)
    }
}

/// Answers one request. Dropped unused, it answers that its responder stopped, as far as the client takes that without
/// waiting.
pub struct NatsReplier(Option<Open>);

/// A request that has no answer yet.
struct Open {
    link: Arc<Link>,
    subject: async_nats::Subject,
    failure: FailureReply,
}

impl Open {
    async fn answer(&self, event: &Event) -> Result<(), NotSent> {
        self.link.send(self.subject.clone(), None, event).await
    }

    /// Answers in a word, without waiting: the client has a buffer. Where that is full, or the link is down, whoever asked
    /// learns of it by the deadline.
    fn fail(&self, reason: FailureReason) {
        let event = self.failure.event(reason);
        // Outside of the task's budget, which may be used up, and would look like a full buffer.
        match unconstrained(self.answer(&event)).now_or_never() {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                tracing::debug!(
                    name: "no_reply",
                    target: "tramline",
                    failure = %reason,
                    reason = %error,
                    "a request gets no failure reply"
                );
            }
            None => {
                tracing::debug!(
                    name: "no_reply",
                    target: "tramline",
                    failure = %reason,
                    reason = "the client's buffer is full",
                    "a request gets no failure reply"
                );
            }
        }
    }
}

impl Reply for NatsReplier {
    async fn reply(mut self, event: Event) -> Result<(), ReplyError> {
        let Some(open) = self.0.take() else { return Ok(()) };
        open.answer(&event).await.map_err(|error| {
            if matches!(error, NotSent::TooLarge { .. }) {
                open.fail(FailureReason::BadReply);
            }
            ReplyError::new(error)
        })
    }
}

impl Drop for NatsReplier {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.fail(FailureReason::Stopping);
        }
    }
}

impl fmt::Debug for NatsReplier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsReplier").finish_non_exhaustive()
    }
}
