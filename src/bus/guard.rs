//! A handler's future under guard: its panics are caught, also those of its destructors, and it can be cut off.

use std::{
    any::Any,
    fmt,
    future::{Future, pending},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tokio_util::sync::CancellationToken;

use crate::subscription::panic_text;

/// How a guarded future ended.
pub(super) enum Guarded<T> {
    Returned(T),
    /// With the panic's text.
    Panicked(String),
    /// Dropped, because the time for it was used up.
    CutOff,
}

/// Guards what makes a future, and the future, in a slot that is empty before and afterwards.
pub(super) struct Guard<'g, M, F, C> {
    make: Option<M>,
    slot: Pin<&'g mut Option<F>>,
    cut_off: Pin<&'g mut C>,
}

// What makes the future is moved out before it is called, and is pinned nowhere.
impl<M, F, C> Unpin for Guard<'_, M, F, C> {}

/// Guards a call and the future that it makes, where that is pinned, so that it is not moved. `cut_off` is looked at only
/// while the future is pending, so that it costs a ready one nothing.
#[inline]
pub(super) fn guard<'g, M: FnOnce() -> F, F, C>(
    make: M,
    slot: Pin<&'g mut Option<F>>,
    cut_off: Pin<&'g mut C>,
) -> Guard<'g, M, F, C> {
    Guard { make: Some(make), slot, cut_off }
}

impl<M: FnOnce() -> F, F: Future, C: Future<Output = ()>> Future for Guard<'_, M, F, C> {
    type Output = Guarded<F::Output>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { make, slot, cut_off } = &mut *self;
        // The future is dropped inside of the guard in every case: a destructor may panic too.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some(make) = make.take() {
                slot.set(Some(make()));
            }
            let future = slot.as_mut().as_pin_mut().expect("a guard is not polled after it was ready");
            let ended = match future.poll(cx) {
                Poll::Ready(value) => Guarded::Returned(value),
                Poll::Pending if cut_off.as_mut().poll(cx).is_ready() => Guarded::CutOff,
                Poll::Pending => return Poll::Pending,
            };
            slot.set(None);
            Poll::Ready(ended)
        }));
        match polled {
            Ok(poll) => poll,
            Err(payload) => {
                let text = describe(payload);
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| slot.set(None))) {
                    dispose(payload);
                }
                Poll::Ready(Guarded::Panicked(text))
            }
        }
    }
}

/// Runs what a backend does, with its panics caught: the error is the text of one.
pub(super) async fn caught<F: Future>(future: F) -> Result<F::Output, String> {
    match guard(|| future, pin!(None), pin!(pending())).await {
        Guarded::Returned(value) => Ok(value),
        Guarded::Panicked(text) => Err(text),
        Guarded::CutOff => unreachable!("it is never cut off"),
    }
}

/// Runs what a backend does, with its panics caught, until this is cancelled. What is not waited for costs nothing.
pub(super) async fn caught_until<F: Future>(make: impl FnOnce() -> F, end: &CancellationToken) -> Guarded<F::Output> {
    guard(make, pin!(None), pin!(async { end.cancelled().await })).await
}

/// The words of what a user's code made, whose display and whose destructor may panic: the error is the text of one.
#[cold]
pub(super) fn words(said: impl fmt::Display) -> Result<String, String> {
    catch_unwind(AssertUnwindSafe(move || said.to_string())).map_err(describe)
}

/// The panic's text; the payload is disposed of.
pub(super) fn describe(payload: Box<dyn Any + Send>) -> String {
    let text = panic_text(&*payload).into_owned();
    dispose(payload);
    text
}

/// Drops a panic's payload, whose own destructor may panic, whose payload may panic when dropped, and so on: after the
/// second one it is leaked.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}
