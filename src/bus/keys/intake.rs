//! The stream that readers take their deliveries from: the source's own, or sorted by key.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tokio::{
    task::coop::has_budget_remaining,
    time::{Instant, Sleep, sleep_until},
};

use super::Keys;
use crate::contract::{Incoming, Settle};

pin_project! {
    /// The deliveries of a source.
    #[project = Projected]
    pub(in crate::bus) enum Intake<D, S> {
        /// As the source gives them.
        Plain { #[pin] stream: D },
        /// Each when its key is free.
        Keyed { #[pin] stream: D, keys: Arc<Keys<S>>, timer: Timer },
    }
}

impl<D, S> Intake<D, S> {
    pub(in crate::bus) fn new(stream: D, keys: Option<Arc<Keys<S>>>) -> Self {
        match keys {
            None => Self::Plain { stream },
            Some(keys) => Self::Keyed { stream, keys, timer: Timer(None) },
        }
    }
}

impl<D: Stream<Item = Incoming<S>>, S: Settle> Stream for Intake<D, S> {
    type Item = Incoming<S>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.project() {
            Projected::Plain { stream } => stream.poll_next(cx),
            Projected::Keyed { stream, keys, timer } => keyed(stream, keys, timer, cx),
        }
    }
}

/// What is parked and free comes first; then the source is asked, while there is room to park. Only when it has nothing
/// does a key go on without a message that is late: while all readers were busy, it may have come back there.
///
/// Pending without having asked the source loses no wake-up: room comes with a parked delivery that is handed out, and
/// whoever gets one calls the next reader (see [`Feed`](crate::bus::feed::Feed)).
// Not inlined, like all that readers call of keys: a subscription without keys does not pay for them.
#[inline(never)]
fn keyed<D: Stream<Item = Incoming<S>>, S: Settle>(
    mut stream: Pin<&mut D>,
    keys: &Keys<S>,
    timer: &mut Timer,
    cx: &mut Context<'_>,
) -> Poll<Option<Incoming<S>>> {
    loop {
        let has_room = {
            let mut lanes = keys.lanes();
            if let Some(incoming) = keys.next_ready(&mut lanes) {
                return Poll::Ready(Some(incoming));
            }
            lanes.parked() < keys.room
        };
        if has_room {
            match stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(incoming)) => match keys.sort(incoming) {
                    Some(incoming) => return Poll::Ready(Some(incoming)),
                    None => continue,
                },
                Poll::Ready(None) => return Poll::Ready(None),
                // It may have more than this task's turn allows: it calls again.
                Poll::Pending if !has_budget_remaining() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
        let look_at = {
            let mut lanes = keys.lanes();
            if lanes.next_look().is_some() {
                keys.look(&mut lanes);
                if let Some(incoming) = keys.next_ready(&mut lanes) {
                    return Poll::Ready(Some(incoming));
                }
            }
            lanes.next_look()
        };
        // Due already: look again.
        if timer.poll(look_at, cx).is_pending() {
            return Poll::Pending;
        }
    }
}

/// One timer for all keys of a source.
pub(in crate::bus) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Ready when this time has come.
    fn poll(&mut self, at: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = at else { return Poll::Pending };
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx)
    }
}
