//! The future of one call of a handler that `#[responder]` made.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;

use super::{Answer, Judgement, Rejection, answer::value};
use crate::{
    codec::{Codec, Encodes},
    event::UriReference,
};

pin_project! {
    /// A responder's future whose value becomes the reply, or the rejection for which it was not called.
    ///
    /// By hand, for the reasons that [`Handling`](super::Handling) has.
    #[doc(hidden)]
    #[derive(Debug)]
    #[project = Projected]
    pub enum AnsweringCall<'d, F: Future> {
        /// An extractor could not be made.
        Rejected { rejection: Option<Rejection> },
        /// The responder was called.
        Called {
            #[pin]
            future: F,
            source: &'d UriReference,
            // Of the event that carries a value.
            event_type: &'static str,
            answer: fn(F::Output, &'static str, &UriReference) -> Judgement,
        },
    }
}

impl<'d, F: Future> AnsweringCall<'d, F> {
    /// The responder is not called.
    pub const fn rejected(rejection: Rejection) -> Self {
        Self::Rejected { rejection: Some(rejection) }
    }

    /// The responder was called, and says itself what the event is.
    pub fn event<C: Codec>(future: F, source: &'d UriReference) -> Self
    where
        F::Output: Answer<C>,
    {
        Self::Called { future, source, event_type: "", answer: |said, _, source| said.answer(source) }
    }

    /// The responder was called, and gives a value.
    pub fn value<C: Encodes<F::Output>>(future: F, source: &'d UriReference, event_type: &'static str) -> Self {
        let answer =
            |said, event_type: &'static str, source: &UriReference| value::<C, F::Output>(&said, event_type, source);
        Self::Called { future, source, event_type, answer }
    }

    /// The responder was called, and gives a value or an error.
    pub fn result<C: Encodes<V>, V, E: fmt::Display>(
        future: F,
        source: &'d UriReference,
        event_type: &'static str,
    ) -> Self
    where
        F: Future<Output = Result<V, E>>,
    {
        let answer = |said: Result<V, E>, event_type: &'static str, source: &UriReference| match said {
            Ok(said) => value::<C, V>(&said, event_type, source),
            Err(error) => Judgement::failed(&error),
        };
        Self::Called { future, source, event_type, answer }
    }
}

impl<F: Future> Future for AnsweringCall<'_, F> {
    type Output = Result<Judgement, Rejection>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projected::Rejected { rejection } => {
                Poll::Ready(Err(rejection.take().expect("a future is not polled after it was ready")))
            }
            Projected::Called { future, source, event_type, answer } => {
                future.poll(cx).map(|said| Ok(answer(said, event_type, source)))
            }
        }
    }
}

/// Whether a type is a `Result`, which the macro sees only where it is written so: an alias of one would be encoded as a
/// value, its error with it.
#[doc(hidden)]
#[derive(Debug)]
pub struct IsResult<T>(PhantomData<fn() -> T>);

impl<V, E> IsResult<Result<V, E>> {
    /// It is.
    pub const HIDDEN: bool = true;
}

/// Found where there is nothing nearer.
#[doc(hidden)]
pub trait NoResult {
    /// It is not.
    const HIDDEN: bool = false;
}

impl<T> NoResult for IsResult<T> {}

/// Refuses an alias of `Result` as a responder's return type.
///
/// ```compile_fail,E0080
/// use tramline::{Bus, Memory, responder, source};
///
/// type Priced = Result<u64, String>;
///
/// #[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
/// async fn price() -> Priced {
///     Ok(250)
/// }
///
/// let _ = Bus::builder(Memory::new(), source!("urn:example:pricing")).subscribe(price);
/// ```
///
/// # Panics
/// If it is one: at compile time, when called for a constant.
#[doc(hidden)]
#[track_caller]
pub const fn refuse_hidden_result(hidden: bool) {
    assert!(
        !hidden,
        "a responder that can fail writes `Result<.., ..>` in its signature: an alias of it would be encoded as a value"
    );
}
