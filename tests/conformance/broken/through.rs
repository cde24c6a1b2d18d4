//! What is asked of a backend, on its way to memory: a fault may do something before it, after it, or instead.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tramline::{
    Event, Memory, Subject,
    backend::memory::MemorySession,
    contract::{
        AnswersRequests, FailsWhenFull, FinalReading, PublishError, RequestError, RetireError, RetireReason, Session,
        SourceId,
    },
};

/// A publish.
pub(crate) struct Publish<'a> {
    pub(crate) session: &'a MemorySession,
    pub(crate) subject: &'a Subject,
    pub(crate) event: Event,
    pub(crate) room: Room,
}

/// When there has to be room for what is published.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Room {
    Now,
    /// Some time, or within this time.
    Within(Option<Duration>),
}

impl Publish<'_> {
    pub(crate) async fn go(self) -> Result<(), PublishError> {
        let Self { session, subject, event, room } = self;
        match room {
            Room::Now => session.publish(subject, event).await,
            Room::Within(within) => Memory::publish_when_room(session, subject, event, within).await,
        }
    }

    /// Publishes the same to this subject, first, and whatever comes of that.
    pub(crate) async fn first(&self, subject: &Subject) {
        let _ = self.session.publish(subject, self.event.clone()).await;
    }
}

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) session: &'a MemorySession,
    pub(crate) subject: &'a Subject,
    pub(crate) event: Event,
    pub(crate) within: Duration,
}

impl Request<'_> {
    pub(crate) async fn go(self) -> Result<Event, RequestError> {
        Memory::request(self.session, self.subject, self.event, self.within).await
    }
}

/// The retiring of a source.
pub(crate) struct Retire<'a> {
    pub(crate) source: SourceId,
    pub(crate) reason: RetireReason,
    /// How often it was retired before.
    pub(crate) before: u64,
    pub(super) inside: Box<dyn FnOnce(RetireReason) -> Retired<'a> + Send + 'a>,
}

pub(crate) type Retired<'a> = BoxFuture<'a, Result<FinalReading, RetireError>>;

impl<'a> Retire<'a> {
    pub(crate) fn go(self) -> Retired<'a> {
        (self.inside)(self.reason)
    }
}
