//! A backend that hands a responder whatever a test puts on it, and answers replies as the test says.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use tokio::sync::mpsc;
use tokio_stream::Stream;
use tramline::{
    Bus, Event, Subject,
    bus::BusBuilder,
    capabilities,
    contract::{
        AnswersRequests, Backend, Capabilities, CloseError, FailureReason, FinalReading, Incoming, Malformed,
        MatchesPatterns, OpenError, PublishError, Reply, ReplyError, ReplyTo, RequestError, ResponderSpec, RetireError,
        RetireReason, Session, Source, SourceControl, SourceStats, SubscribeError, Volatile,
    },
    source,
};

/// The backend. Its clones share what the test looks at.
#[derive(Clone, Default)]
pub(crate) struct Wire(Arc<Shared>);

#[derive(Default)]
struct Shared {
    responder: Mutex<Option<mpsc::Sender<Incoming<ReplyTo<WireReplier>>>>>,
    sent: Mutex<u64>,
    replies: Mutex<Vec<Event>>,
}

/// What a replier does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Replying {
    Sends,
    Refuses,
    Panics,
    NeverEnds,
}

impl Wire {
    pub(crate) fn builder(&self) -> BusBuilder<Self> {
        Bus::builder(self.clone(), source!("urn:example:pricing"))
    }

    /// Hands the responder one message, if there is room.
    fn put(&self, incoming: Incoming<ReplyTo<WireReplier>>) {
        *self.0.sent.lock().unwrap() += 1;
        self.0.responder.lock().unwrap().as_ref().expect("subscribed").try_send(incoming).expect("has room");
    }

    fn reply_to(&self, replying: Replying) -> ReplyTo<WireReplier> {
        ReplyTo::request(WireReplier { shared: self.0.clone(), replying })
    }

    /// A request, whose replier does this.
    pub(crate) fn ask(&self, subject: Subject, event: Event, replying: Replying) {
        self.put(Incoming::new(subject, event, self.reply_to(replying)));
    }

    /// A request that is no valid event.
    pub(crate) fn ask_garbled(&self) {
        self.put(Incoming::malformed(Malformed::new("garbled").at("a"), self.reply_to(Replying::Sends)));
    }

    /// A message that nobody asked with, and that is no valid event.
    pub(crate) fn publish_garbled(&self) {
        self.put(Incoming::malformed(Malformed::new("garbled").at("a"), ReplyTo::nobody()));
    }

    /// The replies that went out.
    pub(crate) fn replies(&self) -> Vec<Event> {
        self.0.replies.lock().unwrap().clone()
    }

    /// Why they are failure replies, if they are.
    pub(crate) fn reasons(&self) -> Vec<Option<FailureReason>> {
        self.replies().iter().map(FailureReason::of).collect()
    }
}

pub(crate) struct WireReplier {
    shared: Arc<Shared>,
    replying: Replying,
}

impl Reply for WireReplier {
    async fn reply(self, event: Event) -> Result<(), ReplyError> {
        match self.replying {
            Replying::Sends => {
                self.shared.replies.lock().unwrap().push(event);
                Ok(())
            }
            Replying::Refuses => Err(ReplyError::new("the link is gone")),
            Replying::Panics => panic!("the client library has a bug"),
            Replying::NeverEnds => std::future::pending().await,
        }
    }
}

pub(crate) struct WireSource {
    deliveries: mpsc::Receiver<Incoming<ReplyTo<WireReplier>>>,
    shared: Arc<Shared>,
}

pub(crate) struct WireDeliveries(mpsc::Receiver<Incoming<ReplyTo<WireReplier>>>);

pub(crate) struct WireControl(Arc<Shared>);

impl Source for WireSource {
    type Settler = ReplyTo<WireReplier>;
    type Deliveries = WireDeliveries;
    type Control = WireControl;

    fn split(self) -> (WireDeliveries, WireControl) {
        (WireDeliveries(self.deliveries), WireControl(self.shared))
    }
}

impl Stream for WireDeliveries {
    type Item = Incoming<ReplyTo<WireReplier>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

impl SourceControl for WireControl {
    fn snapshot(&self) -> SourceStats {
        let mut stats = SourceStats::default();
        stats.accepted = *self.0.sent.lock().unwrap();
        let free = self.0.responder.lock().unwrap().as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity());
        stats.pending = free as u64;
        stats
    }

    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(self.snapshot()))
    }
}

pub(crate) struct WireSession(Arc<Shared>);

impl Session for WireSession {
    async fn publish(&self, _subject: &Subject, _event: Event) -> Result<(), PublishError> {
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        Ok(())
    }
}

impl Backend for Wire {
    type Session = WireSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Wire);

    async fn open(&self) -> Result<WireSession, OpenError> {
        Ok(WireSession(self.0.clone()))
    }
}

impl MatchesPatterns for Wire {}

impl AnswersRequests for Wire {
    type Requests = WireSource;
    type Replier = WireReplier;

    async fn responder(session: &WireSession, spec: ResponderSpec) -> Result<WireSource, SubscribeError> {
        let (sender, deliveries) = mpsc::channel(spec.bound.get());
        *session.0.responder.lock().unwrap() = Some(sender);
        Ok(WireSource { deliveries, shared: session.0.clone() })
    }

    async fn request(_: &WireSession, _: &Subject, _: Event, _: Duration) -> Result<Event, RequestError> {
        Err(RequestError::NoResponders)
    }

    fn unclaimed(_: &WireSession) -> u64 {
        0
    }
}
