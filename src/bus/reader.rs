//! The loop that takes deliveries and calls the handler: the only code that is compiled anew for each subscription.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use crossbeam_utils::CachePadded;
use futures_core::Stream;
use tokio_util::sync::WaitForCancellationFuture;

use super::{desk::Desk, guard::guard, tally::Tally};
use crate::{
    contract::{Incoming, Settle},
    subscription::{BusContext, Handler, Parts, Surroundings},
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
    mut feed: Feed<D>,
    tally: Arc<CachePadded<Tally>>,
) -> ReaderEnd
where
    H: Handler<X>,
    X: BusContext,
    D: Stream<Item = Incoming<S>>,
    S: Settle,
{
    let Post { handler, surroundings, desk } = &*post;
    let mut stopping = pin!(desk.stopping.cancelled());
    let mut cut_off = pin!(desk.cut_off.cancelled());
    loop {
        let Incoming { subject, event, attempt, settler } = match next(desk, &mut feed, stopping.as_mut()).await {
            Ok(incoming) => incoming,
            Err(end) => return end,
        };
        tally.taken.add_one();
        if attempt.get() > 1 {
            tally.redelivered.add_one();
        }
        let event = match event {
            Ok(event) => event,
            Err(malformed) => {
                desk.malformed(&tally, malformed, attempt, &subject, settler).await;
                continue;
            }
        };
        let parts = Parts { surroundings, subject: &subject, event: &event, attempt };
        let handled = guard(handler.handle(parts), cut_off.as_mut()).await;
        if let Some(text) = desk.conclude(&tally, handled, attempt, &subject, settler).await {
            return ReaderEnd::Panicked(text);
        }
    }
}

/// The next delivery. The stop flag is looked at first: behind a stream that is always ready it would not be seen.
async fn next<D, S>(
    desk: &Desk,
    feed: &mut Feed<D>,
    mut stopping: Pin<&mut WaitForCancellationFuture<'_>>,
) -> Result<Incoming<S>, ReaderEnd>
where
    D: Stream<Item = Incoming<S>>,
{
    poll_fn(|cx| {
        if desk.is_closing() {
            return Poll::Ready(Err(ReaderEnd::Closed));
        }
        match feed.poll_next(cx) {
            Poll::Ready(Some(incoming)) => Poll::Ready(Ok(incoming)),
            Poll::Ready(None) => Poll::Ready(Err(ReaderEnd::SourceEnded)),
            Poll::Pending => stopping.as_mut().poll(cx).map(|()| Err(ReaderEnd::Closed)),
        }
    })
    .await
}

/// Where a reader takes its deliveries from.
pub(super) enum Feed<D> {
    /// The only reader owns the stream.
    Sole(Pin<Box<D>>),
    /// Several readers take turns.
    Shared(Arc<Shared<D>>, usize),
}

/// A stream that several readers take turns at.
///
/// The stream knows one waker, which passes a wake-up on to one waiting reader; a reader that got something passes it on
/// to the next, since there may be more.
pub(super) struct Shared<D> {
    /// `None` when it has ended: a stream is not polled after that.
    stream: Mutex<Option<Pin<Box<D>>>>,
    queue: Arc<Queue>,
}

/// The readers that wait, each in its own place.
struct Queue(Mutex<Vec<Option<Waker>>>);

impl<D> Feed<D> {
    /// One feed for each reader.
    pub(super) fn split(stream: D, readers: usize) -> Vec<Self> {
        if readers == 1 {
            return vec![Self::Sole(Box::pin(stream))];
        }
        let queue = Arc::new(Queue(Mutex::new(vec![None; readers])));
        let shared = Arc::new(Shared { stream: Mutex::new(Some(Box::pin(stream))), queue });
        (0..readers).map(|place| Self::Shared(shared.clone(), place)).collect()
    }
}

impl<D: Stream> Feed<D> {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<D::Item>> {
        match self {
            Self::Sole(stream) => stream.as_mut().poll_next(cx),
            Self::Shared(shared, place) => shared.poll_next(*place, cx),
        }
    }
}

impl<D: Stream> Shared<D> {
    fn poll_next(&self, place: usize, cx: &mut Context<'_>) -> Poll<Option<D::Item>> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // Before polling: a wake-up between polling and waiting would otherwise find nobody.
        self.queue.wait(place, cx.waker());
        let waker = Waker::from(self.queue.clone());
        let polled = match &mut *stream {
            Some(live) => live.as_mut().poll_next(&mut Context::from_waker(&waker)),
            None => Poll::Ready(None),
        };
        if let Poll::Ready(None) = polled {
            *stream = None;
        }
        drop(stream);
        if polled.is_ready() {
            self.queue.leave(place);
            self.queue.pass_on();
        }
        polled
    }
}

impl Queue {
    fn wait(&self, place: usize, waker: &Waker) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut places[place] {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }

    fn leave(&self, place: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[place] = None;
    }

    /// Wakes one of those who wait.
    fn pass_on(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().find_map(Option::take);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Wake for Queue {
    fn wake(self: Arc<Self>) {
        self.pass_on();
    }
}
