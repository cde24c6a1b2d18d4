//! What the tests of core NATS have in common.

use std::{
    future::{Future, poll_fn},
    num::NonZeroUsize,
    pin::Pin,
    time::Duration,
};

use tokio::time::{sleep, timeout};
use tokio_stream::Stream;
use tramline::{
    Event, Group, Name, Nats, NatsOptions, Pattern, Subject,
    backend::nats::{NatsDeliveries, NatsSession, NatsSourceControl},
    contract::{
        AtMostOnceSpec, Backend, DeliversAtMostOnce, Incoming, NothingToSettle, Overflow, PublishError, Session,
        Source, SourceControl, SourceId, SourceStats,
    },
    source,
};

use crate::server::{Server, Setup, Version};

/// Far more than anything takes, on a machine with much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How long one listens before saying that nothing comes.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

/// Runs a test on a server of each version.
pub(crate) async fn on_both(test: impl AsyncFn(Server)) {
    on_both_with(|setup| setup, test).await;
}

/// The same, on servers that are set up for it.
pub(crate) async fn on_both_with(setup: impl Fn(Setup) -> Setup, test: impl AsyncFn(Server)) {
    for version in Version::ALL {
        println!("on {version:?}");
        test(Server::start(setup(Setup::new(version).without_jetstream())).await).await;
    }
}

/// A backend that makes a lost link anew at once.
pub(crate) fn nats(url: impl Into<String>) -> Nats {
    Nats::new(url).options(quick())
}

pub(crate) fn quick() -> NatsOptions {
    NatsOptions::new().reconnect_delay(Duration::from_millis(10))
}

pub(crate) async fn open(url: impl Into<String>) -> NatsSession {
    nats(url).open().await.unwrap()
}

pub(crate) fn subject(text: &str) -> Subject {
    Subject::new(text).unwrap()
}

#[allow(clippy::needless_pass_by_value, reason = "numbers and texts alike, as they stand")]
pub(crate) fn event(id: impl ToString) -> Event {
    Event::builder(id.to_string(), source!("urn:example:test"), "com.example.test.v1").text("hello").build().unwrap()
}

pub(crate) fn spec(pattern: &str) -> AtMostOnceSpec {
    let name = Name::new(format!("on {pattern}")).unwrap();
    AtMostOnceSpec::new(SourceId::new(1, 0, 0), name, Pattern::new(pattern).unwrap(), many(256))
}

pub(crate) fn many(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

pub(crate) fn group(name: &str) -> Group {
    Group::new(name).unwrap()
}

pub(crate) async fn publish(session: &NatsSession, to: &str, id: impl ToString) -> Result<(), PublishError> {
    session.publish(&subject(to), event(id)).await
}

/// An open source.
pub(crate) struct Sink {
    pub(crate) deliveries: NatsDeliveries,
    pub(crate) control: NatsSourceControl,
}

impl Sink {
    pub(crate) async fn on(session: &NatsSession, pattern: &str) -> Self {
        Self::of(session, spec(pattern)).await
    }

    pub(crate) async fn bounded(session: &NatsSession, pattern: &str, bound: usize, overflow: Overflow) -> Self {
        let mut spec = spec(pattern).overflow(overflow);
        spec.bound = many(bound);
        Self::of(session, spec).await
    }

    pub(crate) async fn of(session: &NatsSession, spec: AtMostOnceSpec) -> Self {
        let (deliveries, control) = Nats::at_most_once(session, spec).await.unwrap().split();
        Self { deliveries, control }
    }

    pub(crate) async fn next(&mut self) -> Option<Incoming<NothingToSettle>> {
        within("a delivery", next(&mut self.deliveries)).await
    }

    /// The id of the next event.
    pub(crate) async fn id(&mut self) -> String {
        self.next().await.expect("the source lives").message.unwrap().event.id().to_owned()
    }

    pub(crate) async fn ids(&mut self, count: usize) -> Vec<String> {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.id().await);
        }
        ids
    }

    pub(crate) async fn is_quiet(&mut self) -> bool {
        timeout(QUIET, next(&mut self.deliveries)).await.is_err()
    }

    pub(crate) fn stats(&self) -> SourceStats {
        self.control.snapshot()
    }
}

pub(crate) async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

/// What has to come to an end.
pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("not in {PATIENCE:?}: {what}"))
}

/// Waits for a condition that nobody notifies of.
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            sleep(Duration::from_millis(2)).await;
        }
    };
    within(what, waiting).await;
}

/// An error and what caused it, in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
