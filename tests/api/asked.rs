//! Memory whose session a test has too, to be the responder that the bus asks.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::FutureExt;
use tokio_stream::StreamExt;
use tramline::{
    Bus, Event, Group, Memory, Pattern, Running, Subject,
    backend::memory::{MemoryReplier, MemoryRequestDeliveries, MemoryRequests, MemoryResponderControl, MemorySession},
    bus::{BusBuilder, RequestLedger},
    capabilities,
    contract::{
        AnswersRequests, AtMostOnceSpec, Backend, Capabilities, CloseError, DeliversAtMostOnce, FailureReason,
        FailureReply, OpenError, PublishError, Reply, RequestError, ResponderSpec, Session, Source, SourceId,
        SubscribeError, Volatile,
    },
    source,
};

use crate::support::{many, name};

/// The backend. Its clones share what the test looks at.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Shared>);

#[derive(Default)]
struct Shared {
    session: Mutex<Option<Arc<MemorySession>>>,
    /// What becomes of the next requests instead of what memory does.
    fault: Mutex<Option<fn() -> RequestError>>,
}

pub(crate) struct AskedSession {
    inner: Arc<MemorySession>,
    shared: Arc<Shared>,
}

impl Asked {
    pub(crate) fn builder(&self) -> BusBuilder<Self> {
        Bus::builder(self.clone(), source!("urn:example:asker"))
    }

    pub(crate) async fn start(&self) -> Bus<Self, Running> {
        self.builder().build().expect("valid").start().await.expect("starts")
    }

    /// What a request fails with from now on.
    pub(crate) fn fail(&self, fault: fn() -> RequestError) {
        *self.0.fault.lock().unwrap() = Some(fault);
    }

    /// A responder in the session that is open now.
    pub(crate) async fn responder(&self, subject: &Subject, bound: usize) -> Responder {
        let session = self.0.session.lock().unwrap().clone().expect("the bus has been started");
        let spec = ResponderSpec::new(
            SourceId::new(1, 0, 1),
            name("pricing"),
            Pattern::from(subject.clone()),
            Group::new("pricing").unwrap(),
            many(bound),
            FailureReply::new(source!("urn:example:pricing")),
        );
        let requests: MemoryRequests = Memory::responder(&session, spec).await.expect("open");
        let (deliveries, control) = requests.split();
        Responder { deliveries, _control: control }
    }
}

/// Takes requests, and leaves it to the test to answer them.
pub(crate) struct Responder {
    deliveries: MemoryRequestDeliveries,
    _control: MemoryResponderControl,
}

impl Responder {
    /// The next request, with its reply address.
    pub(crate) async fn next(&mut self) -> (Event, MemoryReplier) {
        let incoming = self.deliveries.next().await.expect("a source that is not retired does not end");
        let event = incoming.message.expect("valid").event;
        (event, incoming.settler.into_replier().expect("it was requested"))
    }

    /// The same, if there is one.
    pub(crate) fn waiting(&mut self) -> Option<(Event, MemoryReplier)> {
        self.next().now_or_never()
    }

    /// Answers the next request with what this makes of it.
    pub(crate) async fn answer(&mut self, reply: impl FnOnce(&Event) -> Event) {
        let (event, replier) = self.next().await;
        replier.reply(reply(&event)).await.expect("the session is open");
    }
}

pub(crate) fn failure(reason: FailureReason) -> Event {
    FailureReply::new(source!("urn:example:pricing")).event(reason)
}

/// Nothing is in flight, and the identity holds of each row and of all (R4).
#[track_caller]
pub(crate) fn settled(ledger: &RequestLedger) {
    for stats in ledger.named.iter().chain([&ledger.unnamed, &ledger.total()]) {
        assert_eq!((stats.in_flight, stats.unaccounted()), (0, 0), "R4: {stats}");
    }
}

impl Backend for Asked {
    type Session = AskedSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Asked);

    async fn open(&self) -> Result<AskedSession, OpenError> {
        let inner = Arc::new(Memory::new().open().await?);
        *self.0.session.lock().unwrap() = Some(inner.clone());
        Ok(AskedSession { inner, shared: self.0.clone() })
    }
}

impl Session for AskedSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        self.inner.publish(subject, event).await
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.inner.close().await
    }
}

impl DeliversAtMostOnce for Asked {
    type Source = <Memory as DeliversAtMostOnce>::Source;

    async fn at_most_once(session: &AskedSession, spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        <Memory as DeliversAtMostOnce>::at_most_once(&session.inner, spec).await
    }
}

impl AnswersRequests for Asked {
    type Requests = MemoryRequests;
    type Replier = MemoryReplier;

    async fn responder(session: &AskedSession, spec: ResponderSpec) -> Result<MemoryRequests, SubscribeError> {
        Memory::responder(&session.inner, spec).await
    }

    async fn request(
        session: &AskedSession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        let fault = *session.shared.fault.lock().unwrap();
        match fault {
            Some(fault) => Err(fault()),
            None => Memory::request(&session.inner, subject, event, within).await,
        }
    }

    fn unclaimed(session: &AskedSession) -> u64 {
        Memory::unclaimed(&session.inner)
    }
}
