//! What is asked of a session, on its way to memory's.

use std::time::Duration;

use tramline::{
    Event, Memory, Subject,
    backend::memory::MemorySession,
    contract::{AnswersRequests, PublishError, RequestError, Session},
};

pub(crate) struct Publish<'a> {
    pub(crate) session: &'a MemorySession,
    pub(crate) subject: &'a Subject,
    pub(crate) event: Event,
}

impl Publish<'_> {
    pub(crate) async fn go(self) -> Result<(), PublishError> {
        self.session.publish(self.subject, self.event).await
    }
}

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
