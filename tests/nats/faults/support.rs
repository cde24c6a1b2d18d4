//! What these tests have in common: a server with a stream, and a service of which each delivery can be held and judged.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_nats::jetstream::{self, stream::Config};
use futures_util::future::join_all;
use tokio::{sync::watch, time::sleep};
use tramline::{
    AtLeastOnce, Attempt, Bus, Delivery, Event, Handle, JetStream, Running, Settled, State, bus::Stats,
    contract::PublishError, source, subject, subscription,
};

pub(crate) use crate::core::support::{PATIENCE, chain, event, quick, until, within};
use crate::server::{Server, Setup, Version};

pub(crate) const STREAM: &str = "SHOP";
const PROBE: &str = "probe";

/// Runs a test on a server of each version at once, with a stream that keeps `shop.>`.
pub(crate) async fn on_both(test: impl AsyncFn(Server)) {
    on_both_with(|setup| setup, |_| {}, test).await;
}

/// The same, on servers and with a stream that are set up for it.
pub(crate) async fn on_both_with(
    setup: impl Fn(Setup) -> Setup,
    stream: impl Fn(&mut Config),
    test: impl AsyncFn(Server),
) {
    join_all(Version::ALL.map(async |version| {
        let server = Server::start(setup(Setup::new(version))).await;
        add_stream(&server.url(), &stream).await;
        test(server).await;
    }))
    .await;
}

/// What the operator does.
pub(crate) async fn add_stream(url: &str, change: impl Fn(&mut Config)) {
    let mut config = Config { name: STREAM.to_owned(), subjects: vec!["shop.>".to_owned()], ..Default::default() };
    change(&mut config);
    bare(url).await.create_stream(config).await.unwrap();
}

/// A client that knows nothing of tramline. On a server with users it is `all`.
pub(crate) async fn bare(url: &str) -> jetstream::Context {
    let options = async_nats::ConnectOptions::new().retry_on_initial_connect();
    jetstream::new(options.user_and_password("all".to_owned(), "pw".to_owned()).connect(url).await.unwrap())
}

/// What the server holds for the consumer: not sent, sent and not settled, and up to where all is acknowledged.
pub(crate) async fn owed(url: &str, durable: &str) -> (u64, usize, u64) {
    let info = bare(url).await.get_stream(STREAM).await.unwrap().consumer_info(durable).await.unwrap();
    (info.num_pending, info.num_ack_pending, info.ack_floor.stream_sequence)
}

pub(crate) fn jetstream(url: impl Into<String>) -> JetStream {
    JetStream::new(url, STREAM).options(quick())
}

/// What a handler is to do with a delivery once it may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Keep it in hand.
    Hold,
    Accept,
    /// Decline it if it has come first, and else accept it.
    DeclineFirst,
}

/// The service's state: what it is to do, and what has come.
#[derive(Clone)]
pub(crate) struct Desk {
    order: Arc<watch::Sender<Order>>,
    /// The attempts that each event came with, in the order in which they came.
    came: Arc<Mutex<BTreeMap<String, Vec<u32>>>>,
}

impl Desk {
    pub(crate) fn new(order: Order) -> Self {
        Self { order: Arc::new(watch::Sender::new(order)), came: Arc::default() }
    }

    pub(crate) fn order(&self, order: Order) {
        self.order.send_replace(order);
    }

    pub(crate) fn came(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u32>>> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many different events have come, without those that only tried whether one can publish.
    pub(crate) fn count(&self) -> usize {
        self.came().keys().filter(|id| *id != PROBE).count()
    }

    async fn handle(&self, event: &Event, attempt: u32, delivery: Delivery<AtLeastOnce>) -> Settled {
        self.came().entry(event.id().to_owned()).or_default().push(attempt);
        let mut order = self.order.subscribe();
        let order = *order.wait_for(|order| *order != Order::Hold).await.unwrap();
        if order == Order::DeclineFirst && attempt == 1 { delivery.nack() } else { delivery.ack() }
    }
}

#[subscription(
    pattern = "shop.>", mode = AtLeastOnce, durable = "till", max_deliver = 20, bound = 32, concurrency = 8,
    ack_wait = "2s", restart(initial = "20ms", max = "200ms"),
)]
pub(crate) async fn till(
    event: &Event,
    Attempt(attempt): Attempt,
    State(desk): State<Desk>,
    delivery: Delivery<AtLeastOnce>,
) -> Settled {
    desk.handle(event, attempt.get(), delivery).await
}

/// A service with the one subscription `till`.
pub(crate) async fn serve(backend: JetStream, desk: &Desk) -> Bus<JetStream, Running> {
    let bus = Bus::builder(backend, source!("urn:example:test")).state(desk.clone()).subscribe(till).build().unwrap();
    bus.start_within(PATIENCE).await.unwrap()
}

/// A bus that only publishes.
pub(crate) async fn publisher(backend: JetStream) -> Bus<JetStream, Running> {
    let bus = Bus::builder(backend, source!("urn:example:test")).build().unwrap();
    bus.start_within(PATIENCE).await.unwrap()
}

/// Whether one can publish.
pub(crate) async fn probe(bus: &Handle<JetStream>) -> Result<(), PublishError> {
    publish(bus, PROBE).await
}

pub(crate) async fn publish(bus: &Handle<JetStream>, id: impl ToString) -> Result<(), PublishError> {
    bus.publish(&subject!("shop.order"), event(id)).await
}

/// Publishes until the stream has it.
pub(crate) async fn publish_surely(bus: &Handle<JetStream>, id: impl ToString) {
    let confirmed = async {
        while publish(bus, id.to_string()).await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    within("the publish is confirmed", confirmed).await;
}

/// The ledger of `till` when nothing moves any more: it balances, as long as the bus runs too.
pub(crate) async fn balanced(bus: &Bus<JetStream, Running>) -> Stats {
    let quiet = async || {
        let stats = bus.stats("till").unwrap();
        stats.pending == 0 && stats.in_hand == 0
    };
    until("nothing is in hand", quiet).await;
    let stats = bus.stats("till").unwrap();
    assert_eq!(stats.unaccounted(), 0, "L4: {stats}");
    stats
}

/// Stops a bus, and gives the final ledger of `till`, which balances.
pub(crate) async fn stop(bus: Bus<JetStream, Running>) -> Stats {
    let stats = within("the stop", bus.stop(Duration::from_secs(5))).await.bus.stats("till").unwrap();
    assert_eq!((stats.unaccounted(), stats.pending, stats.in_hand), (0, 0, 0), "L4: {stats}");
    stats
}
