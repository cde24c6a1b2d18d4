//! Memory's backend and its session, with the hooks of a fault around them.

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
    replier::BrokenReplier,
    source::BrokenSource,
    through::{Publish, Request, Room},
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
        let session = &self.inside;
        self.fault.publishes(Publish { session, subject, event, room: Room::Now }).await
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.fault.closes(&self.inside).await
    }
}

impl DeliversAtMostOnce for Broken {
    type Source = BrokenSource<MemorySource>;

    async fn at_most_once(session: &BrokenSession, mut spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        let BrokenSession { inside, fault } = session;
        let id = spec.id;
        fault.at_most_once(&mut spec);
        let source = Memory::at_most_once(inside, spec).await?;
        fault.subscribed(inside).await;
        Ok(BrokenSource::new(source, fault, id))
    }
}

impl DeliversAtLeastOnce for Broken {
    type Source = BrokenSource<MemoryDurableSource>;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &BrokenSession, mut spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        let BrokenSession { inside, fault } = session;
        let id = spec.id;
        fault.at_least_once(&mut spec);
        let source = Memory::at_least_once(inside, spec).await?;
        fault.subscribed(inside).await;
        Ok(BrokenSource::new(source, fault, id))
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
        let BrokenSession { inside: session, fault } = session;
        fault.publishes(Publish { session, subject, event, room: Room::Within(within) }).await
    }
}

impl AnswersRequests for Broken {
    type Requests = BrokenSource<MemoryRequests>;
    type Replier = BrokenReplier;

    async fn responder(session: &BrokenSession, mut spec: ResponderSpec) -> Result<Self::Requests, SubscribeError> {
        let BrokenSession { inside, fault } = session;
        let id = spec.id;
        fault.responds(&mut spec);
        Ok(BrokenSource::new(Memory::responder(inside, spec).await?, fault, id))
    }

    async fn request(
        session: &BrokenSession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        let BrokenSession { inside: session, fault } = session;
        fault.requests(Request { session, subject, event, within }).await
    }

    fn unclaimed(session: &BrokenSession) -> u64 {
        session.fault.unclaimed(Memory::unclaimed(&session.inside))
    }
}
