//! A request on its way: asked with an event, and answered with one or with a value, before its deadline.

mod ledger;
mod tally;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

pub use self::ledger::{RequestLedger, RequestStats};
use self::tally::Row;
pub(super) use self::tally::{RequestBook, Unclaimed};
use super::{core::Core, publish::outgoing, traces::Traces};
use crate::{
    codec::{self, Codec, Decodes, Encodes},
    contract::{AnswersRequests, FailureReason, PublishError, RequestError},
    event::Event,
    subject::Subject,
    subscription::{built, sealed::Sealed, value_builder},
};

/// A request, made by [`Bus::request`](super::Bus::request) and by [`Bus::request_value`](super::Bus::request_value). It
/// can be awaited once it has a deadline, and is sent when it is first polled.
///
/// `R` is what the reply becomes, and `D` says whether there is a deadline.
///
/// # Cancel safety
/// Dropped before it was polled, nothing was sent. Dropped later, the request is given up and counts as *no reply*
/// (contract R3); a reply that comes after that is unclaimed.
#[must_use = "a request is sent by `.within(..)` and `.await`"]
pub struct Request<'a, R, D> {
    requester: &'a dyn Requester,
    row: &'a Row,
    subject: &'a Subject,
    way: Way<'a>,
    read: fn(Event) -> Result<R, RequestError>,
    deadline: D,
}

/// How far a request is.
enum Way<'a> {
    /// It is made, or could not be.
    Made(Result<Event, RequestError>),
    Sent(BoxedReply<'a>),
    Over,
}

type BoxedReply<'a> = Pin<Box<dyn Future<Output = Result<Event, RequestError>> + Send + 'a>>;

impl<'a, R> Request<'a, R, NoDeadline> {
    fn new(
        requester: &'a dyn Requester,
        subject: &'a Subject,
        event: Result<Event, PublishError>,
        read: fn(Event) -> Result<R, RequestError>,
    ) -> Self {
        let row = requester.book().unnamed();
        let event =
            event.and_then(|event| outgoing(event, requester.traces()).map_err(|error| *error)).map_err(refused);
        Self { requester, row, subject, way: Way::Made(event), read, deadline: NoDeadline(()) }
    }

    /// Waits this long for the reply, counted from where the request is sent (contract R1).
    pub fn within(self, deadline: Duration) -> Request<'a, R, Within> {
        let Self { requester, row, subject, way, read, deadline: _ } = self;
        Request { requester, row, subject, way, read, deadline: Within(deadline) }
    }
}

impl<R, D> Request<'_, R, D> {
    /// Counts it under one of the names that [`BusBuilder::request_names`](super::BusBuilder::request_names) declares.
    /// Under another name it is counted without one, which is logged once (contract R5).
    pub fn named(self, name: &str) -> Self {
        Self { row: self.requester.book().row(name), ..self }
    }
}

impl<R, D: Deadline> Future for Request<'_, R, D> {
    type Output = Result<R, RequestError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut reply = match std::mem::replace(&mut this.way, Way::Over) {
            Way::Made(Ok(event)) => this.requester.send(this.subject, event, this.deadline.within(), this.row),
            Way::Made(Err(error)) => return Poll::Ready(Err(error)),
            Way::Sent(reply) => reply,
            Way::Over => panic!("a request is not polled after it was ready"),
        };
        match reply.as_mut().poll(cx) {
            Poll::Ready(reply) => Poll::Ready(reply.and_then(this.read)),
            Poll::Pending => {
                this.way = Way::Sent(reply);
                Poll::Pending
            }
        }
    }
}

/// Nothing in it is pinned: what is polled is on the heap.
impl<R, D> Unpin for Request<'_, R, D> {}

impl<R, D> fmt::Debug for Request<'_, R, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("subject", self.subject).finish_non_exhaustive()
    }
}

/// Whether a [`Request`] has a deadline: [`Within`] is one, and [`NoDeadline`] is none (contract R1). Sealed.
#[diagnostic::on_unimplemented(
    message = "a request without a deadline cannot be awaited",
    label = "has no deadline",
    note = "write `.within(..)` before `.await`, as in `.within(Duration::from_secs(1)).await`"
)]
pub trait Deadline: Sealed {
    /// How long to wait for the reply.
    fn within(&self) -> Duration;
}

/// A [`Request`] that has no deadline yet: give it one with [`within`](Request::within).
#[derive(Debug, Clone, Copy)]
pub struct NoDeadline(());

/// A [`Request`] that waits this long for its reply.
#[derive(Debug, Clone, Copy)]
pub struct Within(Duration);

impl Sealed for Within {}

impl Deadline for Within {
    fn within(&self) -> Duration {
        self.0
    }
}

/// What sends requests, without the backend's type, so that a [`Request`] has no parameter for it.
trait Requester: Send + Sync {
    fn book(&self) -> &RequestBook;

    fn traces(&self) -> &Traces;

    fn send<'a>(&'a self, subject: &'a Subject, event: Event, within: Duration, row: &'a Row) -> BoxedReply<'a>;
}

impl<B: AnswersRequests> Requester for Core<B> {
    fn book(&self) -> &RequestBook {
        &self.requests
    }

    fn traces(&self) -> &Traces {
        &self.observers.traces
    }

    fn send<'a>(&'a self, subject: &'a Subject, event: Event, within: Duration, row: &'a Row) -> BoxedReply<'a> {
        Box::pin(async move {
            let Some(activation) = self.activation.load_full() else { return Err(RequestError::NotReady) };
            // Only admission: unlike a publish, a request does not hold the session open, since a stop would have to
            // wait for its deadline. Closing the session ends it (N4).
            if activation.gate.is_closed() {
                return Err(RequestError::NotReady);
            }
            self.unclaimed.read_with(B::unclaimed);
            let _watch = self.unclaimed.watch(&activation);
            let in_flight = row.send();
            let reply = B::request(&activation.session, subject, event, within).await;
            in_flight.ended(&reply);
            reply.and_then(|reply| match FailureReason::of(&reply) {
                None => Ok(reply),
                Some(reason) => Err(RequestError::ResponderFailed { reason }),
            })
        })
    }
}

/// A request with an event, for an event.
pub(super) fn request<'a, B: AnswersRequests>(
    core: &'a Core<B>,
    subject: &'a Subject,
    event: Event,
) -> Request<'a, Event, NoDeadline> {
    Request::new(core, subject, Ok(event), Ok)
}

/// A request with a value, for a value.
pub(super) fn request_value<'a, B, C, R, T>(
    core: &'a Core<B>,
    subject: &'a Subject,
    event_type: &str,
    value: &T,
) -> Request<'a, R, NoDeadline>
where
    B: AnswersRequests,
    C: Encodes<T> + for<'d> Decodes<'d, R>,
    T: ?Sized,
{
    let event = value_builder::<C, T>(&core.source, event_type.to_owned(), value).and_then(built);
    Request::new(core, subject, event, decoded::<C, R>)
}

fn decoded<C: Codec + for<'d> Decodes<'d, R>, R>(reply: Event) -> Result<R, RequestError> {
    match codec::decode::<C, R>(&reply) {
        Ok(value) => Ok(value),
        Err(error) => Err(RequestError::Undecodable { source: error.into(), reply }),
    }
}

/// The same refusal, of a request: nothing was sent.
fn refused(error: PublishError) -> RequestError {
    match error {
        PublishError::Reserved { attribute } => RequestError::Reserved { attribute },
        PublishError::Value { source } => RequestError::Value { source },
        other => RequestError::Value { source: other.into() },
    }
}
