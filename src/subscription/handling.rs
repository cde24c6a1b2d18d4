//! The future of one call of a handler that `#[subscription]` made.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;

use super::{Judgement, Mode, Rejection, Verdict};

pin_project! {
    /// A handler's future whose value is judged, or the rejection for which it was not called.
    ///
    /// By hand, and not an async block in each handler: that block was a third of what a subscription cost to compile.
    /// What judges is a function pointer, so that the type asks nothing of the value: a value that is no verdict is one
    /// error, where it is given to [`called`](Handling::called), and none where the type is used as a future.
    #[doc(hidden)]
    #[derive(Debug)]
    #[project = Projected]
    pub enum Handling<F: Future> {
        /// An extractor could not be made.
        Rejected { rejection: Option<Rejection> },
        /// The handler was called.
        Called {
            #[pin]
            future: F,
            judge: fn(F::Output) -> Judgement,
        },
    }
}

impl<F: Future> Handling<F> {
    /// The handler is not called.
    pub const fn rejected(rejection: Rejection) -> Self {
        Self::Rejected { rejection: Some(rejection) }
    }

    /// The handler was called, and this is its future.
    pub fn called<M: Mode>(future: F) -> Self
    where
        F::Output: Verdict<M>,
    {
        Self::Called { future, judge: F::Output::judge }
    }
}

impl<F: Future> Future for Handling<F> {
    type Output = Result<Judgement, Rejection>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projected::Rejected { rejection } => {
                Poll::Ready(Err(rejection.take().expect("a future is not polled after it was ready")))
            }
            Projected::Called { future, judge } => future.poll(cx).map(|said| Ok(judge(said))),
        }
    }
}
