//! A closure as a handler.

use std::{future::Future, marker::PhantomData};

use super::{
    Answer, Answering, Asked, BusContext, Delivery, Extract, FromState, Handler, Judgement, Opening, OpensOn, Parts,
    Rejection, Requested, RunsOn, Settings, Settles, State, Subscription, Verdict,
};
use crate::contract::{Backend, FailureReply, SourceId};

/// A closure and what was declared about it: `A` is what it asks of a backend.
pub struct Closure<A, F> {
    settings: Settings,
    function: F,
    asks: PhantomData<fn() -> A>,
}

/// A closure that takes a part of the state beside the delivery.
pub struct WithState<F, T> {
    function: F,
    state: PhantomData<fn() -> T>,
}

impl<A, F> Closure<A, F> {
    pub(super) fn new(settings: Settings, function: F) -> Self {
        Self { settings, function, asks: PhantomData }
    }
}

impl<F, T> WithState<F, T> {
    pub(super) fn new(function: F) -> Self {
        Self { function, state: PhantomData }
    }
}

// A closure reaches a bus through a builder only; advice to make one of these would lead nowhere.
#[diagnostic::do_not_recommend]
impl<A: Asked, F: Send + Sync + 'static> Subscription for Closure<A, F> {
    type Mode = A::Mode;

    fn settings(&self) -> Settings {
        self.settings.clone()
    }
}

#[diagnostic::do_not_recommend]
impl<B: Backend, A: OpensOn<B>, F: Send + Sync + 'static> RunsOn<B> for Closure<A, F> {
    type Source = A::Source;

    fn open<'s>(
        session: &'s B::Session,
        settings: &Settings,
        id: SourceId,
        failure: &FailureReply,
    ) -> Opening<'s, Self::Source> {
        A::open(session, settings, id, failure)
    }
}

/// A function of the delivery alone.
pub struct Plain<F>(pub(super) F);

impl<X, A, F, Fut, V> Handler<X> for Closure<A, Plain<F>>
where
    X: BusContext,
    A: Asked<Mode: Settles>,
    F: Fn(Delivery<A::Mode>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = V> + Send + 'static,
    V: Verdict<A::Mode> + 'static,
{
    async fn handle<'d>(&'d self, parts: Parts<'d, X>) -> Result<Judgement, Rejection> {
        let delivery = <Delivery<A::Mode> as Extract<'d, X, A::Mode>>::extract(&parts)?;
        Ok((self.function.0)(delivery).await.judge())
    }
}

impl<X, A, F, T, Fut, V> Handler<X> for Closure<A, WithState<F, T>>
where
    X: BusContext,
    A: Asked<Mode: Settles>,
    T: FromState<X::State> + 'static,
    F: Fn(Delivery<A::Mode>, State<T>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = V> + Send + 'static,
    V: Verdict<A::Mode> + 'static,
{
    async fn handle<'d>(&'d self, parts: Parts<'d, X>) -> Result<Judgement, Rejection> {
        let future = {
            let delivery = <Delivery<A::Mode> as Extract<'d, X, A::Mode>>::extract(&parts)?;
            (self.function.function)(delivery, State(T::from_state(parts.state())))
        };
        Ok(future.await.judge())
    }
}

/// A function that answers a request.
pub struct Answers<F>(pub(super) F);

impl<X, F, Fut, V> Handler<X> for Closure<Answering, Answers<F>>
where
    X: BusContext,
    F: Fn(Requested) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = V> + Send + 'static,
    V: Answer<X::Codec> + 'static,
{
    async fn handle<'d>(&'d self, parts: Parts<'d, X>) -> Result<Judgement, Rejection> {
        Ok((self.function.0)(Requested::of(&parts)).await.answer(parts.source()))
    }
}

impl<X, F, T, Fut, V> Handler<X> for Closure<Answering, Answers<WithState<F, T>>>
where
    X: BusContext,
    T: FromState<X::State> + 'static,
    F: Fn(Requested, State<T>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = V> + Send + 'static,
    V: Answer<X::Codec> + 'static,
{
    async fn handle<'d>(&'d self, parts: Parts<'d, X>) -> Result<Judgement, Rejection> {
        let future = (self.function.0.function)(Requested::of(&parts), State(T::from_state(parts.state())));
        Ok(future.await.answer(parts.source()))
    }
}
