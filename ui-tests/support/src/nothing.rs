//! A session, a source and a replier that do nothing.

use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tramline::{
    Event, Subject,
    contract::{
        CloseError, FinalReading, Incoming, PublishError, Reply, ReplyError, RetireError, RetireReason, Session,
        Settle, Source, SourceControl, SourceStats,
    },
};

/// Takes every publish.
#[derive(Debug)]
pub struct NoSession;

impl Session for NoSession {
    async fn publish(&self, _subject: &Subject, _event: Event) -> Result<(), PublishError> {
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        Ok(())
    }
}

/// Yields nothing, under settler `S`.
#[derive(Debug)]
pub struct NoSource<S>(PhantomData<fn() -> S>);

impl<S> NoSource<S> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S> Stream for NoSource<S> {
    type Item = Incoming<S>;

    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Pending
    }
}

impl<S: 'static> SourceControl for NoSource<S> {
    fn snapshot(&self) -> SourceStats {
        SourceStats::default()
    }

    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(SourceStats::default()))
    }
}

impl<S: Settle> Source for NoSource<S> {
    type Settler = S;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self::new(), Self::new())
    }
}

/// Replies to nobody.
#[derive(Debug)]
pub struct NoReply;

impl Reply for NoReply {
    async fn reply(self, _event: Event) -> Result<(), ReplyError> {
        Ok(())
    }
}
