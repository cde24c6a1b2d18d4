//! What the tests of `JetStream` have in common.

use std::{
    future::poll_fn,
    num::{NonZeroU32, NonZeroUsize},
    pin::Pin,
    time::Duration,
};

use async_nats::jetstream::{self, stream};
use tokio::time::timeout;
use tokio_stream::Stream;
use tramline::{
    DurableName, JetStream, Name, NatsOptions, Pattern,
    backend::jetstream::{JetStreamDeliveries, JetStreamSession, JetStreamSettler, JetStreamSourceControl},
    contract::{
        AtLeastOnceSpec, Backend, DeliversAtLeastOnce, FinalReading, Incoming, Outcome, PublishError, RetireReason,
        Session, Settle, SettleError, Settlement, Source, SourceControl, SourceId, SourceStats, SubscribeError,
    },
};

pub(crate) use crate::core::support::{QUIET, chain, event, subject, until, within};
use crate::server::{Server, Setup, Version};

pub(crate) const STREAM: &str = "TEST";
/// Short, and long enough for a machine with much else to do.
pub(crate) const LEASE: Duration = Duration::from_millis(800);

/// Runs a test on a server of each version, with a stream of `a.>`.
pub(crate) async fn on_both(test: impl AsyncFn(Server)) {
    for version in Version::ALL {
        println!("on {version:?}");
        let server = Server::start(Setup::new(version)).await;
        make_stream(&server, stream::Config::default()).await;
        test(server).await;
    }
}

/// A client that knows nothing of tramline.
pub(crate) async fn bare(server: &Server) -> jetstream::Context {
    jetstream::new(async_nats::connect(server.url()).await.unwrap())
}

/// The stream of the tests, otherwise as it is given.
pub(crate) async fn make_stream(server: &Server, config: stream::Config) {
    let subjects = vec!["a.>".to_owned()];
    bare(server).await.create_stream(stream::Config { name: STREAM.to_owned(), subjects, ..config }).await.unwrap();
}

/// A backend that makes a lost link anew at once.
pub(crate) fn jetstream(url: impl Into<String>) -> JetStream {
    JetStream::new(url, STREAM).options(NatsOptions::new().reconnect_delay(Duration::from_millis(10)))
}

pub(crate) async fn open(url: impl Into<String>) -> JetStreamSession {
    jetstream(url).open().await.unwrap()
}

/// A subscription with a short lease and room for 64.
pub(crate) fn spec(pattern: &str, durable: &str) -> AtLeastOnceSpec {
    AtLeastOnceSpec::new(
        SourceId::new(1, 0, 0),
        Name::new(format!("on {pattern}")).unwrap(),
        Pattern::new(pattern).unwrap(),
        DurableName::new(durable).unwrap(),
        NonZeroU32::new(3).unwrap(),
        NonZeroUsize::new(64).unwrap(),
    )
    .ack_wait(LEASE)
}

pub(crate) fn bounded(bound: usize, spec: AtLeastOnceSpec) -> AtLeastOnceSpec {
    let mut spec = spec;
    spec.bound = NonZeroUsize::new(bound).unwrap();
    spec
}

pub(crate) async fn publish(session: &JetStreamSession, to: &str, id: impl ToString) -> Result<(), PublishError> {
    session.publish(&subject(to), event(id)).await
}

/// Publishes events of these numbers, side by side.
pub(crate) async fn publish_all(session: &JetStreamSession, to: &str, ids: std::ops::Range<u32>) {
    let published = ids.map(|id| publish(session, to, id));
    for published in futures_util::future::join_all(published).await {
        published.unwrap();
    }
}

/// The state of a consumer at the server.
pub(crate) async fn consumer(server: &Server, durable: &str) -> jetstream::consumer::Info {
    bare(server).await.get_stream(STREAM).await.unwrap().consumer_info(durable).await.unwrap()
}

/// An open source.
pub(crate) struct Sink {
    pub(crate) deliveries: JetStreamDeliveries,
    pub(crate) control: JetStreamSourceControl,
}

impl Sink {
    pub(crate) async fn of(session: &JetStreamSession, spec: AtLeastOnceSpec) -> Self {
        Self::try_of(session, spec).await.unwrap_or_else(|error| panic!("{}", chain(&error)))
    }

    pub(crate) async fn try_of(session: &JetStreamSession, spec: AtLeastOnceSpec) -> Result<Self, SubscribeError> {
        let source = within("subscribing", JetStream::at_least_once(session, spec)).await?;
        let (deliveries, control) = source.split();
        Ok(Self { deliveries, control })
    }

    /// The next delivery; none once the source has ended.
    pub(crate) async fn incoming(&mut self) -> Option<Incoming<JetStreamSettler>> {
        within("a delivery", poll_fn(|cx| Pin::new(&mut self.deliveries).poll_next(cx))).await
    }

    pub(crate) async fn next(&mut self) -> Got {
        Got::of(self.incoming().await.expect("the source lives"))
    }

    /// The next delivery, if one comes soon.
    pub(crate) async fn soon(&mut self, time: Duration) -> Option<Got> {
        let next = poll_fn(|cx| Pin::new(&mut self.deliveries).poll_next(cx));
        Some(Got::of(timeout(time, next).await.ok()?.expect("the source lives")))
    }

    pub(crate) async fn is_quiet(&mut self) -> bool {
        self.soon(QUIET).await.is_none()
    }

    pub(crate) fn stats(&self) -> SourceStats {
        self.control.snapshot()
    }

    pub(crate) async fn retire(&self) -> FinalReading {
        within("retiring", self.control.retire(RetireReason::Stopping)).await.unwrap()
    }
}

/// A delivery in hand.
pub(crate) struct Got {
    pub(crate) id: String,
    pub(crate) attempt: u32,
    pub(crate) settler: JetStreamSettler,
}

impl Got {
    fn of(incoming: Incoming<JetStreamSettler>) -> Self {
        let Incoming { message, attempt, settler, .. } = incoming;
        Self { id: message.unwrap().event.id().to_owned(), attempt: attempt.get(), settler }
    }

    pub(crate) async fn say(self, outcome: Outcome) -> Result<(), SettleError> {
        self.settler.settle(Settlement::new(outcome)).await
    }

    pub(crate) async fn ack(self) {
        self.say(Outcome::Acked).await.unwrap();
    }

    pub(crate) fn what(&self) -> (&str, u32) {
        (&self.id, self.attempt)
    }
}

/// The ids of these events.
pub(crate) fn numbers(ids: std::ops::Range<u32>) -> Vec<String> {
    ids.map(|id| id.to_string()).collect()
}
