//! What a backend is: the traits through which a bus uses it, and what crosses between the two.
//!
//! Readers of this module are of two kinds.
//!
//! **Users of a bus** meet it in error messages and in bounds: a function that wires subscriptions for several backends
//! says what it needs, `fn wire<B: DeliversAtLeastOnce + SurvivesRestart>(backend: B)`.
//!
//! **Authors of a backend** implement, in this order: [`Backend`] and [`Session`]; one of [`DeliversAtMostOnce`] and
//! [`DeliversAtLeastOnce`] with their [`Source`]; then each further capability that the broker truly has. What is not
//! implemented is never asked for. `examples/own_backend.rs` is a whole one.

mod backend;
mod capabilities;
mod capability;
mod requests;
mod settlement;
mod source;
mod spec;

#[doc(hidden)]
pub use self::capabilities::{Facts, derived};
pub use self::{
    backend::{Backend, CloseError, OpenError, Persistent, PublishError, Session, Storage, SubscribeError, Volatile},
    capabilities::Capabilities,
    capability::{
        DelaysRedelivery, DeliversAtLeastOnce, DeliversAtMostOnce, FailsWhenFull, KeepsForHandler, Lease,
        MatchesPatterns, Orders, QueuePlace, Replays, RoutesAroundDegraded, ShedsNewest, ShedsOldest, SurvivesRestart,
    },
    requests::{
        AnswersRequests, FAILURE_ATTRIBUTE, FailureReason, FailureReply, Reply, ReplyError, ReplyTo, RequestError,
        ResponderSpec,
    },
    settlement::{NothingToSettle, Outcome, Settle, SettleError, Settlement},
    source::{
        FinalReading, Incoming, Malformed, Message, RetireError, RetireReason, Source, SourceControl, SourceStats,
    },
    spec::{AtLeastOnceSpec, AtMostOnceSpec, Overflow, SlowHandler, SourceId, StartAt},
};
