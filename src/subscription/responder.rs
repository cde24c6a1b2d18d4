//! Responders built at run time, where names or bounds come from configuration.

use std::{future::Future, marker::PhantomData, num::NonZeroUsize};

use super::{
    Answer, Answering, BusContext, Collects, FromState, Parts, Restart, Settings, State, WantsSubject,
    closure::{Answers, Closure, WithState},
};
use crate::{
    contract::{AnswersRequests, Backend, MatchesPatterns},
    event::Event,
    subject::{Group, Name, Pattern, Subject},
};

/// One request in the hands of a closure that answers it. What was published to a responder, and not requested, looks the
/// same; its reply is discarded (contract R8).
#[derive(Debug, Clone)]
pub struct Requested {
    subject: Subject,
    event: Event,
}

impl Requested {
    pub(super) fn of<X: BusContext>(parts: &Parts<'_, X>) -> Self {
        Self { subject: parts.subject.clone(), event: parts.event.clone() }
    }

    /// The concrete subject (contract S11).
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The event. Its data is shared and immutable (contract Q7).
    pub fn event(&self) -> &Event {
        &self.event
    }
}

/// What is known of a responder before its subjects are.
#[derive(Debug)]
pub struct BeginResponder<B, P> {
    parent: P,
    name: Name,
    group: Group,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend, P: Collects<B>> WantsSubject<BeginResponder<B, P>> {
    pub(crate) fn responder(parent: P, name: Name, group: Group) -> Self {
        Self { begin: BeginResponder { parent, name, group, backend: PhantomData } }
    }

    /// Answers on one subject.
    pub fn subject(self, subject: Subject) -> ResponderBuilder<B, P> {
        self.select(subject.into())
    }

    /// Answers on the subjects that a pattern matches.
    pub fn pattern(self, pattern: Pattern) -> ResponderBuilder<B, P>
    where
        B: MatchesPatterns,
    {
        self.select(pattern)
    }

    fn select(self, pattern: Pattern) -> ResponderBuilder<B, P> {
        let BeginResponder { parent, name, group, .. } = self.begin;
        ResponderBuilder { parent, settings: Settings::responder(name, pattern, group), backend: PhantomData }
    }
}

/// A responder in the making.
#[derive(Debug)]
#[must_use = "it is not subscribed until `.handle(..)`"]
pub struct ResponderBuilder<B, P> {
    parent: P,
    settings: Settings,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend, P: Collects<B>> ResponderBuilder<B, P> {
    /// Holds at most this many requests; 256 unless said otherwise (contract B1). One more is turned away.
    pub fn bound(self, bound: NonZeroUsize) -> Self {
        self.with(|settings| settings.bound(bound))
    }

    /// Answers this many requests side by side; 1 unless said otherwise (contract B7).
    pub fn concurrency(self, concurrency: NonZeroUsize) -> Self {
        self.with(|settings| settings.concurrency(concurrency))
    }

    /// Is started again after a failure (contract V1).
    pub fn restart(self, restart: Restart) -> Self {
        self.with(|settings| settings.restart(restart))
    }

    /// Answers with this closure: `move |request| { let db = db.clone(); async move { .. } }`. It returns an [`Event`], a
    /// [`ReplyValue`](super::ReplyValue), or a `Result` of one of them.
    pub fn handle<F, Fut, V>(self, function: F) -> P::Collected
    where
        B: AnswersRequests,
        F: Fn(Requested) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = V> + Send + 'static,
        V: Answer<<P::Context as BusContext>::Codec> + 'static,
    {
        self.parent.collect(Closure::<Answering, _>::new(self.settings, Answers(function)))
    }

    /// Answers with this closure, which takes a part of the bus's state beside the request:
    /// `|request, State(db): State<Db>| async move { .. }`.
    pub fn handle_with<T, F, Fut, V>(self, function: F) -> P::Collected
    where
        B: AnswersRequests,
        T: FromState<<P::Context as BusContext>::State> + 'static,
        F: Fn(Requested, State<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = V> + Send + 'static,
        V: Answer<<P::Context as BusContext>::Codec> + 'static,
    {
        self.parent.collect(Closure::<Answering, _>::new(self.settings, Answers(WithState::new(function))))
    }

    fn with(self, change: impl FnOnce(Settings) -> Settings) -> Self {
        Self { settings: change(self.settings), ..self }
    }
}
