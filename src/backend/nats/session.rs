//! One lifetime of the backend.

use std::{sync::Arc, time::Duration};

use super::{
    link::{Link, NotSent},
    requests::{NatsRequests, request},
    source::NatsSource,
    wire::address,
};
use crate::{
    contract::{AtMostOnceSpec, CloseError, PublishError, RequestError, ResponderSpec, Session, SubscribeError},
    event::Event,
    subject::Subject,
};

/// One connection to NATS, from one start of a bus to its stop. Closing or dropping it ends its sources and its requests.
#[derive(Debug)]
pub struct NatsSession(Arc<Link>);

impl NatsSession {
    pub(in crate::backend) const fn new(link: Arc<Link>) -> Self {
        Self(link)
    }

    /// The connection, for a backend that is built on this one.
    #[allow(dead_code, reason = "core NATS has it by itself")]
    pub(in crate::backend) const fn link(&self) -> &Arc<Link> {
        &self.0
    }

    pub(in crate::backend) async fn subscribe(&self, spec: AtMostOnceSpec) -> Result<NatsSource, SubscribeError> {
        NatsSource::open(&self.0, spec).await
    }

    pub(in crate::backend) async fn respond(&self, spec: ResponderSpec) -> Result<NatsRequests, SubscribeError> {
        NatsRequests::open(&self.0, spec).await
    }

    pub(in crate::backend) async fn request(
        &self,
        subject: &Subject,
        event: &Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        request(&self.0, subject, event, within).await
    }

    pub(in crate::backend) fn unclaimed(&self) -> u64 {
        self.0.desk().unclaimed()
    }
}

impl Session for NatsSession {
    /// `Ok` says that the client has it and the link was up. Whether the server has it is not known, as always at most
    /// once.
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        self.0.send(address(subject), None, &event).await.map_err(|error| match error {
            NotSent::Closed => PublishError::Closed,
            NotSent::TooLarge { size, limit } => PublishError::TooLarge { size, limit },
            error => PublishError::Unconfirmed { source: error.into() },
        })
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.0.close().await
    }
}

impl Drop for NatsSession {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
