//! The service itself: its state, its subscriptions, and its wiring, which runs on any backend that has what they ask for.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use tramline::{
    Ack, AtLeastOnce, Attempt, Bus, Delayed, Delivery, FromState, Payload, Publisher, Settled, State, Topic,
    bus::BusBuilder,
    contract::{
        DelaysRedelivery, DeliversAtLeastOnce, DeliversAtMostOnce, KeepsForHandler, MatchesPatterns, PublishError,
        ShedsOldest,
    },
    source, subscription,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Topic)]
#[topic(subject = "shop.order.placed", event_type = "com.example.shop.order.placed.v1")]
pub(crate) struct OrderPlaced {
    pub(crate) order: u32,
    pub(crate) item: String,
    pub(crate) cents: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Topic)]
#[topic(subject = "shop.order.billed", event_type = "com.example.shop.order.billed.v1")]
pub(crate) struct OrderBilled {
    pub(crate) order: u32,
    pub(crate) item: String,
}

/// Takes the money. In production this is somebody else's service; here, and in tests, it is whatever `Shop` was given.
pub(crate) trait Till: Send + Sync + 'static {
    /// Charges an order once, however often it is asked to.
    fn charge(&self, order: u32, cents: u64) -> Result<(), TillError>;
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TillError {
    /// Later it may work.
    Busy,
    /// It never will.
    Refused,
}

impl fmt::Display for TillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the till is busy",
            Self::Refused => "the till refused it",
        })
    }
}

/// The state of the service. A handler takes the part that it needs.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) till: Arc<dyn Till>,
    pub(crate) parcels: Parcels,
}

/// What was packed: how many of each item.
#[derive(Clone, Default)]
pub(crate) struct Parcels(Arc<Mutex<BTreeMap<String, u32>>>);

impl Parcels {
    pub(crate) fn pack(&self, item: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(item.to_owned()).or_default() += 1;
    }

    pub(crate) fn packed(&self) -> BTreeMap<String, u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl FromState<Shop> for Arc<dyn Till> {
    fn from_state(shop: &Shop) -> Self {
        shop.till.clone()
    }
}

impl FromState<Shop> for Parcels {
    fn from_state(shop: &Shop) -> Self {
        shop.parcels.clone()
    }
}

/// Charges each order, and says so. A till that is busy is asked again after a while of its own choice, an error of the bus
/// after the backoff.
#[subscription(
    subject = "shop.order.placed", mode = AtLeastOnce, durable = "billing", max_deliver = 5, allow_volatile,
    backoff(initial = "1s", max = "1m", multiplier = 2.0), concurrency = 4, restart,
)]
async fn billing(
    Payload(placed): Payload<OrderPlaced>,
    State(till): State<Arc<dyn Till>>,
    publisher: Publisher,
    delivery: Delivery<AtLeastOnce<Delayed>>,
) -> Result<Settled, PublishError> {
    match till.charge(placed.order, placed.cents) {
        Ok(()) => {
            let OrderPlaced { order, item, .. } = placed;
            publisher.publish_topic(&OrderBilled { order, item }).await?;
            Ok(delivery.ack())
        }
        Err(TillError::Busy) => Ok(delivery.nack()),
        Err(TillError::Refused) => {
            tracing::warn!(order = placed.order, "not billed");
            Ok(delivery.ack())
        }
    }
}

/// Packs what is paid for. Its scales have a habit: on glass they break, once, and are restarted.
#[subscription(
    subject = "shop.order.billed", mode = AtLeastOnce, durable = "packing", max_deliver = 5, allow_volatile,
    restart(initial = "100ms"),
)]
async fn packing(billed: Payload<OrderBilled>, State(parcels): State<Parcels>, Attempt(attempt): Attempt) -> Ack {
    assert!(billed.item != "glass" || attempt.get() > 1, "the scales broke");
    parcels.pack(&billed.item);
    Ack
}

/// Shows what happens, at most once. It keeps the latest 64, and what it missed stands in the ledger.
#[subscription(pattern = "shop.>", bound = 64, overflow = ShedOldest)]
async fn dashboard(subject: &tramline::Subject, event: &tramline::Event) {
    println!("  {subject}: {}", event.data().map_or_else(String::new, |data| text(data.bytes())));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The wiring. Leave one of the bounds out, and the compiler names it and the subscription that asks for it.
pub(crate) fn shop<B>(backend: B, state: Shop) -> BusBuilder<B, Shop>
where
    B: DeliversAtLeastOnce + DelaysRedelivery + KeepsForHandler + DeliversAtMostOnce + MatchesPatterns + ShedsOldest,
{
    Bus::builder(backend, source!("urn:example:shop"))
        .state(state)
        .subscribe(billing)
        .subscribe(packing)
        .subscribe(dashboard)
}
