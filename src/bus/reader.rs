//! The loop that takes deliveries and calls the handler: the only code that is compiled anew for each subscription.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use crossbeam_utils::CachePadded;
use futures_core::Stream;
use tokio::{sync::futures::Notified, task::yield_now};

use super::{
    desk::{Desk, in_words},
    feed::Feed,
    guard::{Guarded, guard},
    keys::{Intake, Keys},
    seen::{Place, inside},
    tally::Tally,
};
use crate::{
    contract::{Incoming, Message, Settle},
    subscription::{BusContext, Handler, Judgement, Parts, Surroundings, Word},
};

/// Why a reader ended.
#[derive(Debug)]
pub(super) enum ReaderEnd {
    /// The desk is closing.
    Closed,
    /// The source ended by itself.
    SourceEnded,
    /// The handler panicked, with the panic's text.
    Panicked(String),
}

/// A handler, and what surrounds its deliveries.
pub(super) struct Post<H, X: BusContext> {
    pub(super) handler: Arc<H>,
    pub(super) surroundings: Surroundings<X>,
    pub(super) desk: Arc<Desk>,
}

/// Reads until the source ends, the desk closes, or the handler panics.
pub(super) async fn read<H, X, D, S>(
    post: Arc<Post<H, X>>,
    mut feed: Feed<D, Intake<D, S>>,
    keys: Option<Arc<Keys<S>>>,
    tally: Arc<CachePadded<Tally>>,
) -> ReaderEnd
where
    H: Handler<X>,
    X: BusContext,
    D: Stream<Item = Incoming<S>>,
    S: Settle,
{
    let Post { handler, surroundings, desk } = &*post;
    let mut called = pin!(desk.calls.notified());
    let _end = End { desk, tally: &tally };
    let mut cut_off = pin!(desk.cut_off.cancelled());
    // Of the delivery in hand, where somebody looks. Out here, so that where nobody does it is neither made nor dropped.
    let mut seen = None;
    'deliveries: loop {
        let taken = poll_fn(|cx| next(desk, &tally, &mut feed, called.as_mut(), cx)).await;
        let Incoming { message, attempt, settler } = match taken {
            Ok(incoming) => incoming,
            // What waits for its key was taken before.
            Err(ReaderEnd::Closed) => match keys.as_deref().and_then(Keys::next_parked) {
                Some(incoming) => incoming,
                None => return ReaderEnd::Closed,
            },
            Err(end) => return end,
        };
        tally.taken.add_one();
        if feed.gives_way() {
            yield_now().await;
        }
        if attempt.get() > 1 {
            tally.redelivered.add_one();
        }
        let Message { subject, event } = match message {
            Ok(message) => message,
            Err(malformed) => {
                desk.malformed(&tally, malformed, attempt, settler).await;
                continue;
            }
        };
        let parts = Parts { surroundings, subject: &subject, event: &event, attempt };
        let handled = 'handled: {
            if desk.is_looked_at()
                && let Some(handled) = desk.see(&subject, &event, attempt, &mut seen)
            {
                break 'handled handled;
            }
            // All that is the user's runs and is dropped under guard: calling the handler, and what a rejection says. It is
            // called in one place only, so that it is compiled into this one.
            match inside(seen.as_deref(), guard(|| handler.handle(parts), pin!(None), cut_off.as_mut())).await {
                // The usual case of most subscriptions, and little where it is inlined.
                Guarded::Returned(Ok(Judgement { settlement, word: Word::Plain, .. }))
                    if desk.only_records && seen.is_none() =>
                {
                    tally.said(settlement.outcome);
                    tally.delivered.add_one();
                    continue 'deliveries;
                }
                ended => {
                    if let Some(seen) = &seen {
                        seen.leave();
                    }
                    in_words(ended)
                }
            }
        };
        if seen.is_some() {
            desk.came_to(&subject, &event, attempt, &handled);
        }
        let place = Place { subject: &subject, event: Some(&event), attempt, seen: seen.as_deref() };
        let panicked = if desk.only_records {
            desk.record(&tally, handled, &place)
        } else {
            let settled = desk.settle(&tally, handled, attempt, &place, settler).await;
            if let Some(keys) = &keys {
                keys.conclude(&subject, &event, attempt, settled.again);
            }
            settled.panicked
        };
        if seen.is_some() {
            desk.seen(&place);
            seen = None;
        }
        if let Some(text) = panicked {
            return ReaderEnd::Panicked(text);
        }
    }
}

/// The next delivery. The stop flag is looked at first: behind a stream that is always ready it would not be seen.
#[inline]
fn next<'d, D, S>(
    desk: &'d Desk,
    tally: &Tally,
    feed: &mut Feed<D, Intake<D, S>>,
    mut called: Pin<&mut Notified<'d>>,
    cx: &mut Context<'_>,
) -> Poll<Result<Incoming<S>, ReaderEnd>>
where
    D: Stream<Item = Incoming<S>>,
    S: Settle,
{
    loop {
        if desk.is_closing() {
            return Poll::Ready(Err(ReaderEnd::Closed));
        }
        match feed.poll_next(cx) {
            Poll::Ready(Some(incoming)) => return Poll::Ready(Ok(incoming)),
            Poll::Ready(None) => return Poll::Ready(Err(ReaderEnd::SourceEnded)),
            Poll::Pending => {}
        }
        if called.as_mut().poll(cx).is_pending() {
            desk.idle.rests(tally);
            return Poll::Pending;
        }
        // Anew before both are looked at again, so that no call is missed.
        called.set(desk.calls.notified());
    }
}

/// A reader's last word to who waits for it.
struct End<'d> {
    desk: &'d Desk,
    tally: &'d Tally,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.tally.rest();
        self.desk.idle.look();
    }
}
