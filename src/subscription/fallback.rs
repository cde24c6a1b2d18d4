//! What a broken `#[subscription]` still implements, so that one mistake stays one error.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use crate::contract::{
    FinalReading, Incoming, NothingToSettle, RetireError, RetireReason, Source, SourceControl, SourceStats,
};

/// The source of a subscription that did not compile. It is never opened.
#[derive(Debug)]
pub struct NoSource;

impl Stream for NoSource {
    type Item = Incoming<NothingToSettle>;

    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(None)
    }
}

impl SourceControl for NoSource {
    fn snapshot(&self) -> SourceStats {
        SourceStats::default()
    }

    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(SourceStats::default()))
    }
}

impl Source for NoSource {
    type Settler = NothingToSettle;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self, Self)
    }
}
