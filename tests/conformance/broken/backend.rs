//! Memory with the hooks of a fault around it.

use std::{sync::Arc, time::Duration};

use tramline::{
    Event, Memory, Subject,
    backend::memory::{MemoryDurableSource, MemoryRequests, MemorySession, MemorySource},
    capabilities,
    contract::{
        AnswersRequests, AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, CloseError, DelaysRedelivery,
        DeliversAtLeastOnce, DeliversAtMostOnce, FailsWhenFull, KeepsForHandler, Lease, MatchesPatterns, OpenError,
        Orders, PublishError, QueuePlace, RequestError, ResponderSpec, RoutesAroundDegraded, Session, ShedsNewest,
        ShedsOldest, SubscribeError, Volatile,
    },
};

use super::{
    Fault,
    source::{BrokenReplier, BrokenSource},
    through::{Publish, Request},
};

pub(crate) struct Broken(pub(super) Arc<dyn Fault>);

pub(crate) struct BrokenSession {
    inside: MemorySession,
    fault: Arc<dyn Fault>,
}

impl Backend for Broken {
    type Session = BrokenSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Broken);

    async fn open(&self) -> Result<BrokenSession, OpenError> {
        self.0.opens();
        Ok(BrokenSession { inside: Memory::new().open().await?, fault: self.0.clone() })
    }
}

impl Session for BrokenSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        self.fault.publishes(Publish { session: &self.inside, subject, event }).await
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.fault.closes(&self.inside).await
    }
}

impl DeliversAtMostOnce for Broken {
    type Source = BrokenSource<MemorySource>;

    async fn at_most_once(session: &BrokenSession, mut spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        let fault = session.fault.clone();
        fault.at_most_once(&mut spec);
        let inside = Memory::at_most_once(&session.inside, spec).await?;
        fault.subscribed(&session.inside).await;
        Ok(BrokenSource { inside, fault, at_least_once: false })
    }
}

impl DeliversAtLeastOnce for Broken {
    type Source = BrokenSource<MemoryDurableSource>;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &BrokenSession, mut spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        let fault = session.fault.clone();
        fault.at_least_once(&mut spec);
        let inside = Memory::at_least_once(&session.inside, spec).await?;
        fault.subscribed(&session.inside).await;
        Ok(BrokenSource { inside, fault, at_least_once: true })
    }
}

impl KeepsForHandler for Broken {}
impl MatchesPatterns for Broken {}
impl Orders for Broken {}
impl RoutesAroundDegraded for Broken {}
impl ShedsNewest for Broken {}
impl ShedsOldest for Broken {}

impl DelaysRedelivery for Broken {
    const LONGEST_DELAY: Option<Duration> = None;
}

impl FailsWhenFull for Broken {
    async fn publish_when_room(
        session: &BrokenSession,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> Result<(), PublishError> {
        Memory::publish_when_room(&session.inside, subject, event, within).await
    }
}

impl AnswersRequests for Broken {
    type Requests = BrokenSource<MemoryRequests>;
    type Replier = BrokenReplier;

    async fn responder(session: &BrokenSession, mut spec: ResponderSpec) -> Result<Self::Requests, SubscribeError> {
        let fault = session.fault.clone();
        fault.responds(&mut spec);
        Ok(BrokenSource { inside: Memory::responder(&session.inside, spec).await?, fault, at_least_once: false })
    }

    async fn request(
        session: &BrokenSession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        session.fault.requests(Request { session: &session.inside, subject, event, within }).await
    }

    fn unclaimed(session: &BrokenSession) -> u64 {
        session.fault.unclaimed(Memory::unclaimed(&session.inside))
    }
}
