//! How a publisher publishes: as a handle does, or a handler's through a gate of its own, which closes after the handlers.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Weak,
};

use super::{
    activation::Activation,
    core::Core,
    publish::{from_handle, outgoing},
    traces::Traces,
};
use crate::{
    contract::{Backend, PublishError, Session},
    event::{Event, UriReference},
    subject::Subject,
    subscription::Outlet,
};

/// Publishes for the handlers of one activation (contract Y13). Holds the activation weakly: a publisher that a handler
/// has put aside does not keep a session alive.
pub(super) struct HandlerOutlet<B: Backend> {
    pub(super) activation: Weak<Activation<B>>,
    pub(super) source: UriReference,
    pub(super) traces: Traces,
}

impl<B: Backend> Outlet for HandlerOutlet<B> {
    fn source(&self) -> &UriReference {
        &self.source
    }

    fn publish<'a>(
        &'a self,
        subject: &'a Subject,
        event: Event,
    ) -> Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>> {
        Box::pin(async move {
            let event = outgoing(event, &self.traces).map_err(|error| *error)?;
            let Some(activation) = self.activation.upgrade() else { return Err(PublishError::NotReady) };
            let Some(_pass) = activation.handler_gate.enter() else { return Err(PublishError::NotReady) };
            activation.session.publish(subject, event).await
        })
    }
}

impl<B: Backend> Outlet for Core<B> {
    fn source(&self) -> &UriReference {
        &self.source
    }

    fn publish<'a>(
        &'a self,
        subject: &'a Subject,
        event: Event,
    ) -> Pin<Box<dyn Future<Output = Result<(), PublishError>> + Send + 'a>> {
        Box::pin(from_handle(self, subject, event).into_future())
    }
}
