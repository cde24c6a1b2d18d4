//! What a user declares: subscriptions, their handlers, and what handlers take and return.
//!
//! `#[subscription]` makes a subscription of an async function, and `#[responder]` one that replies; the run-time builders
//! [`AtMostOnceBuilder`], [`AtLeastOnceBuilder`] and [`ResponderBuilder`] make one of a closure, where names or bounds come
//! from configuration. All are checked by the same traits: [`RunsOn`] for what the backend must be able to do,
//! [`Handler`] for what the bus must hold.

mod answer;
mod answering;
mod asks;
mod backoff;
mod batch;
mod builder;
mod closure;
mod delivery;
mod extract;
mod fallback;
mod given;
mod handler;
mod handling;
mod keyed_by;
mod mode;
mod overflow;
mod publisher;
mod responder;
mod restart;
mod runs_on;
pub(crate) mod sealed;
mod selects;
mod settings;
mod verdict;

pub use self::{
    answer::{Answer, ReplyValue},
    asks::{Asked, Asks, IsKept, Keeps, MayForget, MayRedeliver, OpensOn, Survives},
    backoff::{Backoff, BackoffError},
    batch::{Addressed, BatchReport},
    builder::{AtLeastOnceBuilder, AtMostOnceBuilder, BeginAtLeastOnce, BeginAtMostOnce, Collects, WantsSubject},
    closure::{Answers, Closure, Plain, WithState},
    delivery::{DelayTooLong, Delivery},
    extract::{Attempt, Cancelled, Extension, ExtensionAttribute, Extract, FromState, Payload, Rejection, State},
    given::{Given, InMode},
    handler::{BusContext, Cx, Handler, Parts},
    keyed_by::KeyedBy,
    mode::{Answering, AtLeastOnce, AtMostOnce, Delayed, Immediate, Mode, Settles},
    overflow::{Fail, OfferedBy, OverflowPolicy, ShedNewest, ShedOldest, ShedsNothing},
    publisher::{Publisher, PublisherTo},
    responder::{BeginResponder, Requested, ResponderBuilder},
    restart::Restart,
    runs_on::{Opening, RunsOn, Subscription, open_at_least_once, open_at_most_once, open_responder},
    settings::Settings,
    verdict::{Ack, Judgement, Nack, Settled, Verdict},
};
#[doc(hidden)]
pub use self::{
    answering::{AnsweringCall, IsResult, NoResult, refuse_hidden_result},
    fallback::NoSource,
    handling::Handling,
    keyed_by::keyed_by_literal,
    selects::{Carries, NoTopic},
};
pub(crate) use self::{
    batch::{WINDOW, publish_all},
    extract::panic_text,
    handler::Surroundings,
    publisher::{Outlet, built, topic_event, value_builder},
    settings::{ModeSettings, OverflowChoice},
    verdict::Word,
};
