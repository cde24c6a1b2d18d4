//! The two halves of a source at least once, and the settler of a delivery.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::task::coop::poll_proceed;

use super::{
    held::{Handed, Token},
    shared::Shared,
};
use crate::contract::{
    FinalReading, Incoming, RetireError, RetireReason, Settle, SettleError, Settlement, Source, SourceControl,
    SourceStats,
};

/// What a subscription reads from, at least once: a window of a durable consumer.
///
/// When both halves are dropped without a retire, what it holds is given back, too.
#[derive(Debug)]
pub struct JetStreamSource {
    deliveries: JetStreamDeliveries,
    control: JetStreamSourceControl,
}

impl JetStreamSource {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let place = Arc::new(Place(shared));
        Self { deliveries: JetStreamDeliveries(Arc::clone(&place)), control: JetStreamSourceControl(place) }
    }
}

impl Source for JetStreamSource {
    type Settler = JetStreamSettler;
    type Deliveries = JetStreamDeliveries;
    type Control = JetStreamSourceControl;

    fn split(self) -> (JetStreamDeliveries, JetStreamSourceControl) {
        (self.deliveries, self.control)
    }
}

/// The deliveries of one source, in the order in which the server sent them.
///
/// Each takes one unit of the task's cooperative budget.
pub struct JetStreamDeliveries(Arc<Place>);

impl Stream for JetStreamDeliveries {
    type Item = Incoming<JetStreamSettler>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let unit = ready!(poll_proceed(cx));
        let shared = &self.0.0;
        let next = ready!(shared.poll_next(cx));
        unit.made_progress();
        Poll::Ready(next.map(|Handed { token, message, attempt }| {
            let settler = JetStreamSettler { shared: Arc::clone(shared), token, is_settled: false };
            let incoming = match message {
                Ok(message) => Incoming::of(message, settler),
                Err(malformed) => Incoming::malformed(malformed, settler),
            };
            incoming.attempt(attempt)
        }))
    }
}

impl fmt::Debug for JetStreamDeliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamDeliveries").finish_non_exhaustive()
    }
}

/// Reads the counters of one source, and ends it.
pub struct JetStreamSourceControl(Arc<Place>);

impl SourceControl for JetStreamSourceControl {
    fn snapshot(&self) -> SourceStats {
        self.0.0.stats()
    }

    /// Gives back what the source holds, and what an open pull still brings, for which it waits up to a second. Whatever the
    /// reason, the consumer stays: a durable identity is the operator's to delete.
    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        self.0.0.end().await.ok_or_else(|| RetireError::new("the source's task is gone"))
    }
}

impl fmt::Debug for JetStreamSourceControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamSourceControl").field("stats", &self.snapshot()).finish()
    }
}

/// A source that somebody has; it ends with the last half.
#[derive(Debug)]
struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.ends().cancel();
    }
}

/// Settles one delivery. Dropped unsettled, it gives the message back by its source's task.
pub struct JetStreamSettler {
    shared: Arc<Shared>,
    token: Token,
    is_settled: bool,
}

impl Settle for JetStreamSettler {
    /// Tells the server and does not wait for it. Refused at once where the link is down, the lease is over, or the source has
    /// ended.
    async fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        let settled = self.shared.settle(self.token, settlement).await;
        self.is_settled = true;
        settled.map_err(SettleError::new)
    }
}

impl Drop for JetStreamSettler {
    fn drop(&mut self) {
        if !self.is_settled {
            self.shared.give_back(self.token);
        }
    }
}

impl fmt::Debug for JetStreamSettler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamSettler").field("token", &self.token).finish_non_exhaustive()
    }
}
