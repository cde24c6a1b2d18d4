//! What both sides do: the same payload, the same headers, the same handling.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The stream that is published to, and the one that is read.
pub(crate) const STORE: &str = "STORE";
pub(crate) const LOG: &str = "LOG";

pub(crate) const SOURCE: &str = "urn:example:bench";
pub(crate) const TYPE: &str = "com.example.order.placed.v1";
pub(crate) const REPLY: &str = "com.example.order.priced.v1";
pub(crate) const TIME: &str = "2026-01-02T03:04:05.678Z";
/// How many publishes wait for a confirmation side by side, and how many messages a pull asks for.
pub(crate) const WINDOW: usize = 256;

#[derive(Serialize, Deserialize)]
pub(crate) struct Order<'a> {
    pub(crate) article: u64,
    pub(crate) text: &'a str,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Price {
    pub(crate) cents: u64,
}

/// 1 KiB of it.
pub(crate) fn order() -> Bytes {
    let order = serde_json::to_vec(&Order { article: 17, text: &"x".repeat(1_000) }).unwrap();
    assert_eq!(order.len(), 1_024);
    order.into()
}

pub(crate) fn price(order: &Order<'_>) -> Price {
    Price { cents: order.article + order.text.len() as u64 }
}

pub(crate) fn check(price: &Price) {
    assert_eq!(price.cents, 1_017);
}

/// Counts what is handled, and knows when that is all.
#[derive(Clone)]
pub(crate) struct Tally(Arc<Counts>);

struct Counts {
    left: AtomicU64,
    first: AtomicU64,
    of: AtomicU64,
    epoch: Instant,
    last: watch::Sender<Option<Instant>>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Counts {
            left: AtomicU64::new(0),
            first: AtomicU64::new(0),
            of: AtomicU64::new(0),
            epoch: Instant::now(),
            last: watch::Sender::new(None),
        }))
    }

    /// So many are to come.
    pub(crate) fn expect(&self, count: u64) {
        self.0.last.send_replace(None);
        self.0.of.store(count, Relaxed);
        self.0.left.store(count, Relaxed);
    }

    /// What every handler does.
    pub(crate) fn handle(&self, order: &Order<'_>) {
        assert_eq!(order.article, 17);
        let left = self.0.left.fetch_sub(1, Relaxed);
        if left == self.0.of.load(Relaxed) {
            let since = u64::try_from(self.0.epoch.elapsed().as_nanos()).unwrap();
            self.0.first.store(since, Relaxed);
        }
        if left == 1 {
            self.0.last.send_replace(Some(Instant::now()));
        }
    }

    /// When the first and the last were handled.
    pub(crate) async fn all(&self) -> (Instant, Instant) {
        let last = *self.0.last.subscribe().wait_for(Option::is_some).await.unwrap();
        (self.0.epoch + std::time::Duration::from_nanos(self.0.first.load(Relaxed)), last.unwrap())
    }
}
