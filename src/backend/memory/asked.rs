//! A request that waits for its reply, and what the requests of one session have in common.
//!
//! **Invariant:** a reply that goes out is the answer, or unclaimed, and never both (contract R4): its request's lock
//! decides whether it came before the request had finished.
//!
//! **Invariant:** nothing of a user's is dropped or woken under that lock, so a panic cannot poison it.

use std::{
    future::{Future, poll_fn},
    mem,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{
    sync::{Notify, futures::Notified},
    time::{Instant, timeout},
};

use crate::{contract::RequestError, event::Event};

/// What the requests of one session have in common.
#[derive(Debug, Default)]
pub(super) struct Desk {
    closed: AtomicBool,
    closing: Notify,
    unclaimed: AtomicU64,
}

/// The session was closed before the reply went out.
#[derive(Debug, thiserror::Error)]
#[error("the session is closed")]
pub(super) struct Closed;

impl Desk {
    /// A new request. What it allocates is all that a request allocates.
    pub(super) fn request(self: &Arc<Self>) -> Waiting {
        let asked = Asked { desk: Arc::clone(self), place: Mutex::new(Place::Open(None)) };
        Waiting { asked: Arc::new(asked), answered: false }
    }

    /// Ready once the session is closed, if it is not closed yet.
    pub(super) fn closing(&self) -> Notified<'_> {
        self.closing.notified()
    }

    /// Ends every request that waits. No reply goes out any more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.closing.notify_waiters();
    }

    pub(super) fn unclaimed(&self) -> u64 {
        self.unclaimed.load(Ordering::Relaxed)
    }

    fn count_unclaimed(&self) {
        self.unclaimed.fetch_add(1, Ordering::Relaxed);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

/// One request, as those see it who may answer.
#[derive(Debug)]
pub(super) struct Asked {
    desk: Arc<Desk>,
    place: Mutex<Place>,
}

/// Where the reply goes.
#[derive(Debug)]
enum Place {
    /// There is none yet; with the requester, while it sleeps.
    Open(Option<Waker>),
    Reply(Event),
    /// The request has finished.
    Finished,
}

impl Asked {
    /// Sends a reply: the first one that comes in time is the answer, and others are unclaimed.
    pub(super) fn answer(&self, reply: Event) -> Result<(), Closed> {
        if self.desk.is_closed() {
            return Err(Closed);
        }
        let mut place = self.lock();
        let Place::Open(requester) = &mut *place else {
            drop(place);
            self.desk.count_unclaimed();
            return Ok(());
        };
        let requester = requester.take();
        *place = Place::Reply(reply);
        drop(place);
        requester.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// The reply, if it is there, or is after everybody who is to be woken has had a turn: most are. To be called back
    /// at a deadline and at a close costs more than to be polled once more.
    async fn soon(&self) -> Option<Event> {
        let mut gave_way = false;
        poll_fn(|cx| {
            let reply = self.take();
            if reply.is_some() || mem::replace(&mut gave_way, true) {
                return Poll::Ready(reply);
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }

    /// The reply, if it is there.
    fn take(&self) -> Option<Event> {
        let mut place = self.lock();
        if !matches!(*place, Place::Reply(_)) {
            return None;
        }
        let Place::Reply(reply) = mem::replace(&mut *place, Place::Finished) else { return None };
        Some(reply)
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Event> {
        let mut place = self.lock();
        let old = match &mut *place {
            Place::Reply(_) | Place::Finished => {
                let Place::Reply(reply) = mem::replace(&mut *place, Place::Finished) else { return Poll::Pending };
                return Poll::Ready(reply);
            }
            Place::Open(Some(requester)) if requester.will_wake(cx.waker()) => None,
            Place::Open(requester) => requester.replace(cx.waker().clone()),
        };
        drop(place);
        drop(old);
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request, as its requester sees it. Dropped, it is given up.
#[derive(Debug)]
pub(super) struct Waiting {
    asked: Arc<Asked>,
    /// The reply was taken, so there is nothing to be given up.
    answered: bool,
}

impl Waiting {
    pub(super) fn asked(&self) -> &Arc<Asked> {
        &self.asked
    }

    /// The reply. `closing` is older than the look at who is there to answer.
    pub(super) async fn reply(mut self, closing: Notified<'_>, within: Duration) -> Result<Event, RequestError> {
        if self.asked.desk.is_closed() {
            return Err(RequestError::Closed);
        }
        let sent = Instant::now();
        if let Some(reply) = self.asked.soon().await {
            self.answered = true;
            return Ok(reply);
        }
        // The turn may have taken a while: what is there comes first, then the close, then the deadline.
        if self.asked.desk.is_closed() {
            return Err(RequestError::Closed);
        }
        let left = within.saturating_sub(sent.elapsed());
        if left.is_zero() {
            return Err(RequestError::NoReply { within });
        }
        let mut closing = pin!(closing);
        // In the same order.
        let reply = poll_fn(|cx| match self.asked.poll(cx) {
            Poll::Ready(reply) => Poll::Ready(Some(reply)),
            Poll::Pending => closing.as_mut().poll(cx).map(|()| None),
        });
        match timeout(left, reply).await {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(RequestError::Closed),
            Err(_) => Err(RequestError::NoReply { within }),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let place = mem::replace(&mut *self.asked.lock(), Place::Finished);
        // Nobody has taken it, and nobody will.
        if matches!(place, Place::Reply(_)) {
            self.asked.desk.count_unclaimed();
        }
    }
}
