//! A stand-in for a backend: what that can do, in memory.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc, time::Duration};

use super::{
    link::Wire,
    session::StandInSession,
    source::{Kept, StandInSource},
    stage::Stage,
};
use crate::{
    backend::memory::{Memory, MemoryDurableSource, MemoryReplier, MemoryRequests, MemorySource},
    contract::{
        AnswersRequests, AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, DelaysRedelivery, DeliversAtLeastOnce,
        DeliversAtMostOnce, Facts, FailsWhenFull, KeepsForHandler, Lease, MatchesPatterns, OpenError, Orders,
        PublishError, QueuePlace, RequestError, ResponderSpec, RoutesAroundDegraded, ShedsNewest, ShedsOldest, Storage,
        SubscribeError, SurvivesRestart, derived,
    },
    event::Event,
    subject::Subject,
};

/// Stands in for the backend `L` in a test: on it compiles what compiles on `L`, and what does not, does not.
///
/// It carries messages in memory. Where `L` survives a restart it keeps what it is owed, from one session to the next, for
/// as long as it lives; the longest delay is `L`'s. What is no capability is as in [memory](crate::backend::memory): there
/// is no lease, and what is declined comes back behind what is queued. **Left out:** it does not
/// [replay](crate::contract::Replays), whatever `L` does.
///
/// Clones share what they keep, what was seen on them, and what is to go wrong.
pub struct StandIn<L = Memory> {
    pub(super) stage: Arc<Stage>,
    like: PhantomData<fn() -> L>,
}

impl<L: Backend> StandIn<L> {
    /// A stand-in that nothing was published on yet.
    #[must_use]
    pub fn new() -> Self {
        Self { stage: Arc::default(), like: PhantomData }
    }

    /// Ends every session that is open, as a broker that goes for good: sources end, and publishes fail, until the bus is
    /// stopped and started again. What survives a restart on `L` is kept.
    pub fn end_sessions(&self) {
        for wire in self.stage.wires() {
            wire.close();
        }
    }
}

impl<L: Backend> Default for StandIn<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L> Clone for StandIn<L> {
    fn clone(&self) -> Self {
        Self { stage: self.stage.clone(), like: PhantomData }
    }
}

impl<L> fmt::Debug for StandIn<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandIn").finish_non_exhaustive()
    }
}

/// What `L` can do, with the facts of memory. `capabilities!` cannot be asked: `L` is a parameter.
const fn like(can: Capabilities) -> Capabilities {
    derived(Facts {
        backend: can.backend(),
        persistent: can.persistent(),
        at_most_once: if can.at_most_once() { Some(QueuePlace::Own) } else { None },
        at_least_once: if can.at_least_once() { Some((Lease::None, QueuePlace::Own, true)) } else { None },
        sheds_newest: can.sheds_newest(),
        sheds_oldest: can.sheds_oldest(),
        fails_when_full: can.fails_when_full(),
        matches_patterns: can.matches_patterns(),
        survives_restart: if can.survives_restart() { Some((false, false, false)) } else { None },
        keeps_for_handler: can.keeps_for_handler(),
        orders: can.orders(),
        replays: false,
        delays_redelivery: if can.delays_redelivery() { Some(can.longest_delay()) } else { None },
        routes_around_degraded: can.routes_around_degraded(),
        answers_requests: can.answers_requests(),
    })
}

impl<L: Backend> Backend for StandIn<L> {
    type Session = StandInSession;
    type Storage = L::Storage;

    const CAPABILITIES: Capabilities = like(L::CAPABILITIES);

    async fn open(&self) -> Result<StandInSession, OpenError> {
        let fresh = Memory::new().open().await?;
        let persistent = <L::Storage as Storage>::PERSISTENT;
        let memory = if persistent { self.stage.kept(fresh) } else { Arc::new(fresh) };
        let wire = Arc::new(Wire::new(memory, persistent));
        self.stage.connected(&wire, persistent);
        Ok(StandInSession::new(wire, self.stage.clone()))
    }
}

impl<L: DeliversAtMostOnce> DeliversAtMostOnce for StandIn<L> {
    type Source = StandInSource<MemorySource>;

    const QUEUE: QueuePlace = QueuePlace::Own;

    async fn at_most_once(session: &StandInSession, spec: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
        session.at_most_once(spec).await
    }
}

impl<L: DeliversAtLeastOnce> DeliversAtLeastOnce for StandIn<L> {
    type Source = StandInSource<MemoryDurableSource, Kept>;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &StandInSession, spec: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
        session.at_least_once(spec, L::CAPABILITIES.longest_delay()).await
    }
}

impl<L: SurvivesRestart> SurvivesRestart for StandIn<L> {}

impl<L: KeepsForHandler> KeepsForHandler for StandIn<L> {}

impl<L: DelaysRedelivery> DelaysRedelivery for StandIn<L> {
    const LONGEST_DELAY: Option<Duration> = L::LONGEST_DELAY;
}

impl<L: ShedsNewest> ShedsNewest for StandIn<L> {}

impl<L: ShedsOldest> ShedsOldest for StandIn<L> {}

impl<L: FailsWhenFull> FailsWhenFull for StandIn<L> {
    fn publish_when_room(
        session: &StandInSession,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> impl Future<Output = Result<(), PublishError>> + Send {
        session.publish_when_room(subject, event, within)
    }
}

impl<L: MatchesPatterns> MatchesPatterns for StandIn<L> {}

impl<L: Orders> Orders for StandIn<L> {}

impl<L: RoutesAroundDegraded> RoutesAroundDegraded for StandIn<L> {}

impl<L: AnswersRequests> AnswersRequests for StandIn<L> {
    type Requests = StandInSource<MemoryRequests>;
    type Replier = MemoryReplier;

    async fn responder(session: &StandInSession, spec: ResponderSpec) -> Result<Self::Requests, SubscribeError> {
        session.responder(spec).await
    }

    fn request(
        session: &StandInSession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> impl Future<Output = Result<Event, RequestError>> + Send {
        session.request(subject, event, within)
    }

    fn unclaimed(session: &StandInSession) -> u64 {
        Memory::unclaimed(session.memory())
    }
}
