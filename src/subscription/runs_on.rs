//! What ties a subscription to what its backend must be able to do.

use std::{future::Future, pin::Pin};

use super::{Mode, Settings};
use crate::contract::{
    AnswersRequests, Backend, DeliversAtLeastOnce, DeliversAtMostOnce, FailureReply, Source, SourceId, SubscribeError,
};

/// What a user declares, in one delivery mode. `#[subscription]` and `#[responder]` implement it, and so do the run-time
/// builders.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscription",
    label = "not a subscription",
    note = "put `#[subscription(..)]` or `#[responder(..)]` on the handler function, and pass the function by its name",
    note = "a closure goes to `.handle(..)`, after `.at_most_once(..)` or `.at_least_once(..)`"
)]
pub trait Subscription: Send + Sync + 'static {
    /// The delivery mode.
    type Mode: Mode;

    /// Everything that was declared.
    fn settings(&self) -> Settings;
}

/// A subscription that runs on backend `B`: the bounds of its one implementation are what its settings ask for.
#[diagnostic::on_unimplemented(
    message = "subscription `{Self}` does not run on backend `{B}`",
    label = "asks for a subscription that runs there",
    note = "implement `RunsOn` for it, as `#[subscription(..)]` does"
)]
pub trait RunsOn<B: Backend>: Subscription {
    /// What it reads from.
    type Source: Source;

    /// Opens a source for it. Only a responder's source makes failure replies.
    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        failure: &FailureReply,
    ) -> Opening<'s, Self::Source>;
}

/// A source that is being opened. Boxed, once for each subscribe, so that it has the same type for every subscription.
pub type Opening<'s, S> = Pin<Box<dyn Future<Output = Result<S, SubscribeError>> + Send + 's>>;

/// Opens a source that delivers at most once.
pub fn open_at_most_once<'s, B: DeliversAtMostOnce>(
    session: &'s B::Session,
    settings: &Settings,
    id: SourceId,
) -> Opening<'s, B::Source> {
    match settings.at_most_once_spec(id) {
        Some(spec) => Box::pin(B::at_most_once(session, spec)),
        None => wrong_mode(settings, "AtMostOnce"),
    }
}

/// Opens a source that delivers at least once.
pub fn open_at_least_once<'s, B: DeliversAtLeastOnce>(
    session: &'s B::Session,
    settings: &Settings,
    id: SourceId,
) -> Opening<'s, B::Source> {
    match settings.at_least_once_spec(id) {
        Some(spec) => Box::pin(B::at_least_once(session, spec)),
        None => wrong_mode(settings, "AtLeastOnce"),
    }
}

/// Opens a responder's source.
pub fn open_responder<'s, B: AnswersRequests>(
    session: &'s B::Session,
    settings: &Settings,
    id: SourceId,
    failure: &FailureReply,
) -> Opening<'s, B::Requests> {
    match settings.responder_spec(id, failure) {
        Some(spec) => Box::pin(B::responder(session, spec)),
        None => wrong_mode(settings, "Answering"),
    }
}

/// An implementation by hand gave settings of another mode.
fn wrong_mode<'s, S: Send + 's>(settings: &Settings, mode: &str) -> Opening<'s, S> {
    let error = SubscribeError::Setting {
        subscription: settings.name.clone(),
        setting: "mode",
        value: mode.to_owned(),
        fix: "its settings are of another mode; make both the same".to_owned(),
    };
    Box::pin(std::future::ready(Err(error)))
}
