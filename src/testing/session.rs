//! One connected lifetime of a stand-in: what is published is recorded, or refused as the test says.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{
    link::{Link, Linked, Sources},
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
    memory: Arc<MemorySession>,
    stage: Arc<Stage>,
    /// What is in memory outlives the session.
    persistent: bool,
    closed: CancellationToken,
    sources: Mutex<Sources>,
}

impl StandInSession {
    pub(super) fn new(fresh: MemorySession, stage: Arc<Stage>, persistent: bool) -> Self {
        let memory = if persistent { stage.kept(fresh) } else { Arc::new(fresh) };
        Self { memory, stage, persistent, closed: CancellationToken::new(), sources: Mutex::default() }
    }

    pub(super) fn memory(&self) -> &MemorySession {
        &self.memory
    }

    pub(super) async fn at_most_once(
        &self,
        spec: AtMostOnceSpec,
    ) -> Result<StandInSource<MemorySource>, SubscribeError> {
        self.open_yet()?;
        let name = spec.name.clone();
        let source = StandInSource::new(Memory::at_most_once(&self.memory, spec).await?, Arc::default());
        self.opened(&name, false, source.linked());
        Ok(source)
    }

    pub(super) async fn at_least_once(
        &self,
        spec: AtLeastOnceSpec,
        longest: Option<Duration>,
    ) -> Result<StandInSource<MemoryDurableSource, Kept>, SubscribeError> {
        self.open_yet()?;
        let source = Memory::at_least_once(&self.memory, spec.clone()).await?;
        let source = StandInSource::kept(source, Arc::<Link>::default(), &spec, longest, self.stage.clone());
        self.opened(&spec.name, true, source.linked());
        Ok(source)
    }

    pub(super) async fn responder(&self, spec: ResponderSpec) -> Result<StandInSource<MemoryRequests>, SubscribeError> {
        self.open_yet()?;
        let name = spec.name.clone();
        let source = StandInSource::new(Memory::responder(&self.memory, spec).await?, Arc::default());
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
            answered = Memory::request(&self.memory, subject, event, within) => answered,
            () = self.closed.cancelled() => Err(RequestError::Closed),
        };
        self.record(subject, requested, true, answered.as_ref().err().map(ToString::to_string));
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
            _ if self.closed.is_cancelled() => Err(PublishError::Closed),
            Some(PublishRefusal::QueueFull) if within.is_some() => {
                let waited = within.unwrap_or_default();
                sleep(waited).await;
                Err(PublishError::NoRoomInTime { subscription: queue_of_the_test(), event, waited })
            }
            Some(PublishRefusal::Unconfirmed) => Err(PublishRefusal::Unconfirmed.error(event)),
            refusal => {
                let room = Memory::publish_when_room(&self.memory, subject, event, within).await;
                match refusal {
                    Some(refusal @ PublishRefusal::ConfirmationLost) => Err(refusal.error(published.clone())),
                    _ => room,
                }
            }
        };
        self.record(subject, published, false, outcome.as_ref().err().map(ToString::to_string));
        outcome
    }

    fn open_yet(&self) -> Result<(), SubscribeError> {
        if self.closed.is_cancelled() { Err(SubscribeError::Closed) } else { Ok(()) }
    }

    fn opened<C: SourceControl>(&self, name: &Name, at_least_once: bool, linked: &Arc<Linked<C>>) {
        self.stage.opened(name, at_least_once, &linked.link);
        let weak = Arc::downgrade(linked);
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).push(weak);
    }

    fn record(&self, subject: &Subject, event: Event, requested: bool, refused: Option<String>) {
        self.stage.published(TestPublish { subject: subject.clone(), event, requested, refused, at: Instant::now() });
    }
}

impl Session for StandInSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let published = event.clone();
        let outcome = match self.stage.refusal(subject) {
            _ if self.closed.is_cancelled() => Err(PublishError::Closed),
            Some(PublishRefusal::ConfirmationLost) => {
                let _ = self.memory.publish(subject, event).await;
                Err(PublishRefusal::ConfirmationLost.error(published.clone()))
            }
            Some(refusal) => Err(refusal.error(event)),
            None => self.memory.publish(subject, event).await,
        };
        self.record(subject, published, false, outcome.as_ref().err().map(ToString::to_string));
        outcome
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.closed.cancel();
        if !self.persistent {
            return self.memory.close().await;
        }
        let sources: Sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for source in sources.iter().filter_map(std::sync::Weak::upgrade) {
            source.end().await;
        }
        Ok(())
    }
}

impl fmt::Debug for StandInSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandInSession").field("closed", &self.closed.is_cancelled()).finish_non_exhaustive()
    }
}
