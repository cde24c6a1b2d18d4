//! Backends for the ui tests: each lacks something, and is named so that the first line of an error reads well.
//!
//! They stand in a crate of their own, as a backend does for its users: rustc then shows nothing of their code.

mod nothing;

use std::{num::NonZeroU32, time::Duration};

use tramline::{
    Event, Subject, capabilities,
    contract::{
        AnswersRequests, AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, DelaysRedelivery, DeliversAtLeastOnce,
        DeliversAtMostOnce, FailsWhenFull, KeepsForHandler, Lease, MatchesPatterns, NothingToSettle, OpenError, Orders,
        Persistent, PublishError, QueuePlace, Replays, ReplyTo, RequestError, ResponderSpec, RoutesAroundDegraded,
        ShedsNewest, ShedsOldest, SubscribeError, SurvivesRestart, Volatile,
    },
};

use crate::nothing::{NoReply, NoSession, NoSource};

/// The number of attempts in tests that need one.
pub const FIVE: NonZeroU32 = NonZeroU32::new(5).unwrap();

/// Declares a backend: how it stores, and what it can do.
macro_rules! backend {
    ($(#[$doc:meta])* $name:ident, $storage:ident: $($capability:ident)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Backend for $name {
            type Session = NoSession;
            type Storage = $storage;

            const CAPABILITIES: Capabilities = capabilities!($name);

            async fn open(&self) -> Result<NoSession, OpenError> {
                Ok(NoSession)
            }
        }

        $(backend!(@$capability $name);)*
    };
    (@DeliversAtMostOnce $name:ident) => {
        impl DeliversAtMostOnce for $name {
            type Source = NoSource<NothingToSettle>;

            async fn at_most_once(_: &NoSession, _: AtMostOnceSpec) -> Result<Self::Source, SubscribeError> {
                Ok(NoSource::new())
            }
        }
    };
    (@DeliversAtLeastOnce $name:ident) => {
        impl DeliversAtLeastOnce for $name {
            type Source = NoSource<NothingToSettle>;

            const LEASE: Lease = Lease::Fixed;
            const QUEUE: QueuePlace = QueuePlace::Elsewhere;
            const RETURNS_ATTEMPT: bool = true;

            async fn at_least_once(_: &NoSession, _: AtLeastOnceSpec) -> Result<Self::Source, SubscribeError> {
                Ok(NoSource::new())
            }
        }
    };
    (@DelaysRedelivery $name:ident) => {
        impl DelaysRedelivery for $name {
            const LONGEST_DELAY: Option<Duration> = None;
        }
    };
    (@FailsWhenFull $name:ident) => {
        impl FailsWhenFull for $name {
            async fn publish_when_room(
                _: &NoSession,
                _: &Subject,
                _: Event,
                _: Option<Duration>,
            ) -> Result<(), PublishError> {
                Ok(())
            }
        }
    };
    (@AnswersRequests $name:ident) => {
        impl AnswersRequests for $name {
            type Requests = NoSource<ReplyTo<NoReply>>;
            type Replier = NoReply;

            async fn responder(_: &NoSession, _: ResponderSpec) -> Result<Self::Requests, SubscribeError> {
                Ok(NoSource::new())
            }

            async fn request(_: &NoSession, _: &Subject, _: Event, _: Duration) -> Result<Event, RequestError> {
                Err(RequestError::NoResponders)
            }

            fn unclaimed(_: &NoSession) -> u64 {
                0
            }
        }
    };
    (@$plain:ident $name:ident) => {
        impl $plain for $name {}
    };
}

backend! {
    /// Can do all there is.
    Everything, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull MatchesPatterns Orders AnswersRequests RoutesAroundDegraded
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler Replays DelaysRedelivery
}

backend! {
    /// Waits for no acknowledgement, and has nothing to say at a bound.
    AtMostOnly, Volatile:
    DeliversAtMostOnce MatchesPatterns
}

backend! {
    /// Takes no message back without an acknowledgement.
    AtLeastOnly, Persistent:
    FailsWhenFull MatchesPatterns Orders
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler Replays DelaysRedelivery
}

backend! {
    /// Has named queues and no patterns.
    FlatQueue, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull Orders AnswersRequests
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler Replays DelaysRedelivery
}

backend! {
    /// Keeps what is owed in memory.
    Forgetful, Volatile:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull MatchesPatterns Orders AnswersRequests
    DeliversAtLeastOnce KeepsForHandler Replays DelaysRedelivery
}

backend! {
    /// Leases messages for a time that cannot be extended.
    FixedLease, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull MatchesPatterns Orders AnswersRequests
    DeliversAtLeastOnce SurvivesRestart Replays DelaysRedelivery
}

backend! {
    /// Goes forward only: what was published before is gone.
    ForwardOnly, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull MatchesPatterns Orders AnswersRequests
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler DelaysRedelivery
}

backend! {
    /// Offers a declined message again at once.
    Impatient, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull MatchesPatterns Orders AnswersRequests
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler Replays
}

backend! {
    /// Hands messages out in any order.
    Shuffled, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest FailsWhenFull MatchesPatterns AnswersRequests
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler Replays DelaysRedelivery
}

backend! {
    /// Never says that it is full.
    Unbothered, Persistent:
    DeliversAtMostOnce ShedsNewest ShedsOldest MatchesPatterns Orders AnswersRequests
    DeliversAtLeastOnce SurvivesRestart KeepsForHandler Replays DelaysRedelivery
}
