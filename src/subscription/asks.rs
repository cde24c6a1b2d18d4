//! What a subscription built at run time asks of its backend, as a type.

use std::marker::PhantomData;

use super::{
    Answering, AtLeastOnce, AtMostOnce, Given, Immediate, Mode, Opening, Settings, open_at_least_once,
    open_at_most_once, open_responder, sealed::Sealed,
};
use crate::contract::{
    AnswersRequests, Backend, DeliversAtLeastOnce, DeliversAtMostOnce, FailureReply, KeepsForHandler, Source, SourceId,
    SurvivesRestart,
};

/// What an at-least-once subscription asks: whether declines are delayed (`R`), whether the backlog must survive (`S`),
/// and what happens to a slow handler's message (`K`). The defaults ask for the most.
#[derive(Debug)]
pub struct Asks<R = Immediate, S = Survives, K = Keeps>(PhantomData<(R, S, K)>);

/// The backlog must survive a restart.
#[derive(Debug)]
pub struct Survives;

/// A restart may lose the backlog: `allow_volatile` (contract C14).
#[derive(Debug)]
pub struct MayForget;

/// A message stays its handler's while the handler runs.
#[derive(Debug)]
pub struct Keeps;

/// A slow handler's message is kept for it: [`Keeps`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "a message that is delivered again beside a slow handler has no `max_processing_time`",
    label = "bounds how long a message is kept",
    note = "leave `.max_processing_time(..)` out, or leave `.redeliver_when_slow()` out"
)]
pub trait IsKept: Sealed {}

impl Sealed for Keeps {}
impl IsKept for Keeps {}

/// A slow handler's message may be delivered again beside it (contract E3).
#[derive(Debug)]
pub struct MayRedeliver;

/// What is asked, in one delivery mode. Sealed.
pub trait Asked: Sealed + Send + Sync + 'static {
    /// The delivery mode.
    type Mode: Mode;
}

impl Sealed for AtMostOnce {}
impl Sealed for Answering {}
impl<R, S, K> Sealed for Asks<R, S, K> {}

impl Asked for AtMostOnce {
    type Mode = Self;
}

impl Asked for Answering {
    type Mode = Self;
}

impl<R: Send + Sync + 'static, S: Send + Sync + 'static, K: Send + Sync + 'static> Asked for Asks<R, S, K> {
    type Mode = AtLeastOnce<R>;
}

/// What is asked can be had on backend `B`.
#[diagnostic::on_unimplemented(
    message = "backend `{B}` cannot do what this subscription asks for",
    label = "asks for `{Self}`",
    note = "take a backend with the capabilities that the note below names"
)]
pub trait OpensOn<B: Backend>: Asked {
    /// What a subscription reads from.
    type Source: Source;

    /// Opens a source.
    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        failure: &FailureReply,
    ) -> Opening<'s, Self::Source>;
}

impl<B: DeliversAtMostOnce> OpensOn<B> for AtMostOnce {
    type Source = B::Source;

    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        _: &FailureReply,
    ) -> Opening<'s, B::Source> {
        open_at_most_once::<B>(session, settings, id)
    }
}

impl<B: AnswersRequests> OpensOn<B> for Answering {
    type Source = B::Requests;

    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        failure: &FailureReply,
    ) -> Opening<'s, B::Requests> {
        open_responder::<B>(session, settings, id, failure)
    }
}

macro_rules! at_least_once {
    ($($survives:ident, $keeps:ident: $($capability:path),*;)*) => {$(
        impl<B, R> OpensOn<B> for Asks<R, $survives, $keeps>
        where
            B: DeliversAtLeastOnce,
            $(Given<<B as DeliversAtLeastOnce>::Source, B>: $capability,)*
            R: Send + Sync + 'static,
        {
            type Source = <B as DeliversAtLeastOnce>::Source;

            fn open<'s>(
                session: &'s B::Session,
                settings: &Settings,
                id: SourceId,
                _: &FailureReply,
            ) -> Opening<'s, Self::Source> {
                open_at_least_once::<B>(session, settings, id)
            }
        }
    )*};
}

at_least_once! {
    Survives, Keeps: SurvivesRestart, KeepsForHandler;
    Survives, MayRedeliver: SurvivesRestart;
    MayForget, Keeps: KeepsForHandler;
    MayForget, MayRedeliver:;
}
