//! Where readers take their deliveries from: a stream of their own, or one that several of them take turns at.

#[cfg(all(test, loom))]
mod loom_tests;

#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};
use std::{
    pin::Pin,
    sync::{Arc, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use futures_core::Stream;
#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};

/// Where a reader takes its deliveries from.
pub(super) enum Feed<D, T = D> {
    /// The only reader owns the source's stream `D`.
    Sole(Pin<Box<D>>),
    /// Readers take turns at a stream `T` that is made of it.
    Shared(Turns<T>),
}

impl<D, T> Feed<D, T> {
    /// The feed of the only reader.
    pub(super) fn sole(stream: D) -> Self {
        Self::Sole(Box::pin(stream))
    }

    /// One feed for each reader.
    pub(super) fn turns(stream: T, readers: usize) -> Vec<Self> {
        let seats = Arc::new(Seats(Mutex::new(Seating::new(readers))));
        let waker = Waker::from(seats.clone());
        let shared = Arc::new(Shared { stream: Mutex::new(Some(Box::pin(stream))), seats, waker });
        (0..readers)
            .map(|seat| Self::Shared(Turns { shared: shared.clone(), seat, seated: false, called: false }))
            .collect()
    }
}

impl<D: Stream, T: Stream<Item = D::Item>> Feed<D, T> {
    #[inline]
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<D::Item>> {
        match self {
            Self::Sole(stream) => stream.as_mut().poll_next(cx),
            Self::Shared(turns) => turns.poll_next(cx),
        }
    }

    /// Whether the reader is to give way between taking a delivery and handling it.
    ///
    /// Whom a reader has woken may sit in the slot of its own thread that no other thread takes tasks from (tokio's LIFO
    /// slot). If the handler then blocked the thread, nobody would wait at the stream any more, and all readers would
    /// stop with the one that blocks. So whoever was woken goes first.
    #[inline]
    pub(super) fn gives_way(&self) -> bool {
        matches!(self, Self::Shared(Turns { called: true, .. }))
    }
}

/// One reader's share in a stream that several take turns at.
pub(super) struct Turns<D> {
    shared: Arc<Shared<D>>,
    seat: usize,
    /// Whether this reader may be seated; whoever wakes it takes it out, so only the seats know for certain.
    seated: bool,
    /// Whether it called somebody when it got its last delivery.
    called: bool,
}

/// A stream that several readers take turns at.
///
/// The stream knows one waker, ours, which wakes one of the readers that are seated. **Invariant:** a wake-up is never
/// spent on a reader that does not poll the stream next. A reader takes its seat only after the stream was pending, and
/// gives it up when it gets something; so whoever is found seated is about to poll, or will when it is woken. And who
/// gets something wakes one more: the stream may hold more than one wake-up tells of.
struct Shared<D> {
    /// `None` when it has ended: a stream is not polled after that.
    stream: Mutex<Option<Pin<Box<D>>>>,
    seats: Arc<Seats>,
    /// Wakes through the seats.
    waker: Waker,
}

impl<D: Stream> Turns<D> {
    fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<D::Item>> {
        let Shared { stream, seats, waker } = &*self.shared;
        let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
        let polled = match &mut *stream {
            Some(live) => live.as_mut().poll_next(&mut Context::from_waker(waker)),
            None => Poll::Ready(None),
        };
        if polled.is_pending() {
            // Under the stream's lock, so that nobody polls in between.
            self.seated = true;
            if seats.sit_down(self.seat, cx.waker()) {
                // A wake-up found nobody between our poll and our sitting down. The executor, and not a loop here, lets
                // us poll again: a stream may wake itself to give way.
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        if let Poll::Ready(None) = polled {
            *stream = None;
        }
        drop(stream);
        let seat = std::mem::take(&mut self.seated).then_some(self.seat);
        self.called = seats.stand_up(seat);
        polled
    }
}

/// The readers that wait, each with a seat of its own.
struct Seats(Mutex<Seating>);

struct Seating {
    seats: Vec<Seat>,
    /// The seats to look at, the latest first: who ran last is warm. A seat is in it once at most, and may be empty.
    listed: Vec<usize>,
    /// A wake-up found nobody.
    missed: bool,
}

#[derive(Clone, Default)]
struct Seat {
    waker: Option<Waker>,
    listed: bool,
}

impl Seating {
    fn new(readers: usize) -> Self {
        Self { seats: vec![Seat::default(); readers], listed: Vec::with_capacity(readers), missed: false }
    }

    /// Takes somebody out of their seat, to be woken.
    fn call(&mut self) -> Option<Waker> {
        while let Some(seat) = self.listed.pop() {
            let seat = &mut self.seats[seat];
            seat.listed = false;
            if let Some(waker) = seat.waker.take() {
                return Some(waker);
            }
        }
        None
    }
}

impl Seats {
    /// Waits to be called. Whether a wake-up was missed: then nobody will call for it, and the stream is to be polled
    /// again.
    fn sit_down(&self, seat: usize, waker: &Waker) -> bool {
        let mut seating = self.lock();
        let Seating { seats, listed, missed } = &mut *seating;
        let place = &mut seats[seat];
        match &mut place.waker {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        if !place.listed {
            place.listed = true;
            listed.push(seat);
        }
        std::mem::take(missed)
    }

    /// Gives up the seat, if there is one, and calls somebody else. If nobody waits, nobody needs to be told: whoever
    /// comes polls first.
    fn stand_up(&self, seat: Option<usize>) -> bool {
        let mut seating = self.lock();
        let left = seat.and_then(|seat| seating.seats[seat].waker.take());
        let called = seating.call();
        drop(seating);
        drop(left);
        match called {
            Some(waker) => {
                waker.wake();
                true
            }
            None => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seating> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Seats {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut seating = self.lock();
        let called = seating.call();
        seating.missed |= called.is_none();
        drop(seating);
        if let Some(waker) = called {
            waker.wake();
        }
    }
}
