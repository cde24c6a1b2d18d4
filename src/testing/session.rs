//! One connected lifetime of a stand-in: what is published is recorded, or refused as the test says.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{
    link::{Link, Linked, Wire},
    seen::TestPublish,
    source::{Kept, StandInSource},
    stage::{PublishRefusal, Stage, queue_of_the_test},
};
use crate::{
    backend::memory::{Memory, MemoryDurableSource, MemoryRequests, MemorySession, MemorySource},
    contract::{
        AnswersRequests, AtLeastOnceSpec, AtMostOnceSpec, CloseError, DeliversAtLeastOnce, DeliversAtMostOnce,
        FailsWhenFull, PublishError, RequestError, ResponderSpec, Session, SourceControl, SubscribeError,
    },
    event::Event,
    subject::{Name, Subject},
};

/// One lifetime of a [`StandIn`](super::StandIn).
pub struct StandInSession {
    wire: Arc<Wire>,
    stage: Arc<Stage>,
}

impl StandInSession {
    pub(super) fn new(wire: Arc<Wire>, stage: Arc<Stage>) -> Self {
        Self { wire, stage }
    }

    pub(super) fn memory(&self) -> &MemorySession {
        &self.wire.memory
    }

    pub(super) async fn at_most_once(
        &self,
        spec: AtMostOnceSpec,
    ) -> Result<StandInSource<MemorySource>, SubscribeError> {
        self.open_yet()?;
        let name = spec.name.clone();
        let source = StandInSource::new(Memory::at_most_once(self.memory(), spec).await?, Arc::default());
        self.opened(&name, false, source.linked());
        Ok(source)
    }

    pub(super) async fn at_least_once(
        &self,
        spec: AtLeastOnceSpec,
        longest: Option<Duration>,
    ) -> Result<StandInSource<MemoryDurableSource, Kept>, SubscribeError> {
        self.open_yet()?;
        let source = Memory::at_least_once(self.memory(), spec.clone()).await?;
        let source = StandInSource::kept(source, Arc::<Link>::default(), &spec, longest, self.stage.clone());
        self.opened(&spec.name, true, source.linked());
        Ok(source)
    }

    pub(super) async fn responder(&self, spec: ResponderSpec) -> Result<StandInSource<MemoryRequests>, SubscribeError> {
        self.open_yet()?;
        let name = spec.name.clone();
        let source = StandInSource::new(Memory::responder(self.memory(), spec).await?, Arc::default());
        self.opened(&name, false, source.linked());
        Ok(source)
    }

    pub(super) async fn request(
        &self,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        let requested = event.clone();
        let answered = tokio::select! {
            biased;
            answered = Memory::request(self.memory(), subject, event, within) => answered,
            () = self.wire.closed.cancelled() => Err(RequestError::Closed),
        };
        self.record(subject, requested, true, &answered);
        answered
    }

    pub(super) async fn publish_when_room(
        &self,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> Result<(), PublishError> {
        let published = event.clone();
        let outcome = match self.stage.refusal(subject) {
            _ if self.wire.closed.is_cancelled() => Err(PublishError::Closed),
            Some(PublishRefusal::QueueFull) if within.is_some() => {
                let waited = within.unwrap_or_default();
                sleep(waited).await;
                Err(PublishError::NoRoomInTime { subscription: queue_of_the_test(), event, waited })
            }
            Some(PublishRefusal::Unconfirmed) => Err(PublishRefusal::Unconfirmed.error(event)),
            refusal => {
                let room = Memory::publish_when_room(self.memory(), subject, event, within).await;
                match refusal {
                    Some(refusal @ PublishRefusal::ConfirmationLost) => Err(refusal.error(published.clone())),
                    _ => room,
                }
            }
        };
        self.record(subject, published, false, &outcome);
        outcome
    }

    fn open_yet(&self) -> Result<(), SubscribeError> {
        if self.wire.closed.is_cancelled() { Err(SubscribeError::Closed) } else { Ok(()) }
    }

    fn opened<C: SourceControl>(&self, name: &Name, at_least_once: bool, linked: &Arc<Linked<C>>) {
        self.stage.opened(name, at_least_once, &linked.link);
        self.wire.opened(linked);
    }

    fn record<T, E: Error>(&self, subject: &Subject, event: Event, requested: bool, outcome: &Result<T, E>) {
        let refused = outcome.as_ref().err().map(ToString::to_string);
        self.stage.published(TestPublish { subject: subject.clone(), event, requested, refused, at: Instant::now() });
    }
}

impl Session for StandInSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let published = event.clone();
        let outcome = match self.stage.refusal(subject) {
            _ if self.wire.closed.is_cancelled() => Err(PublishError::Closed),
            Some(PublishRefusal::ConfirmationLost) => {
                let _ = self.memory().publish(subject, event).await;
                Err(PublishRefusal::ConfirmationLost.error(published.clone()))
            }
            Some(refusal) => Err(refusal.error(event)),
            None => self.memory().publish(subject, event).await,
        };
        self.record(subject, published, false, &outcome);
        outcome
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.wire.close();
        Ok(())
    }
}

impl Drop for StandInSession {
    fn drop(&mut self) {
        self.wire.close();
    }
}

impl fmt::Debug for StandInSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandInSession").field("closed", &self.wire.closed.is_cancelled()).finish_non_exhaustive()
    }
}
