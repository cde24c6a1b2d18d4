//! The bounded queue of one source: many publishers, one receiver, exact counters.
//!
//! What is accepted sits in a deque under a lock. The receiver takes the whole deque in one lock, by swapping it with
//! its own empty one, and hands the messages over one by one without the lock. What it holds is not handed over yet and
//! counts against the bound. Where a retire or an eviction needs to reach all of it, the receiver takes one at a time.
//!
//! **Invariant:** `accepted = handed over + pending + evicted` (contract L2), because `pending` is never stored: it is
//! what the other three leave.
//!
//! **Invariant:** the state word decides each race with the receiver. Its count goes up by one for each message handed
//! over, and its flags are set in the same word: who sets [`RETIRED`] learns exactly how many messages were handed over
//! before, and the receiver that finds it set hands nothing over; who sets [`AWAITED`] either sees the message that made
//! room, or is seen by the receiver that hands it over.
//!
//! **Invariant:** nothing of a user's is dropped or woken under the lock, so a panic cannot poison it.

use std::{
    collections::VecDeque,
    fmt, mem,
    num::NonZeroUsize,
    sync::{Arc, PoisonError},
    task::{Context, Poll, Waker},
};

use crossbeam_utils::CachePadded;

use super::{
    sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering},
    waiters::Waiters,
};
use crate::{
    contract::{Message, Overflow, SourceStats},
    subject::Name,
};

/// Set in the state word when the source is retired: from then on nothing is handed over.
const RETIRED: u64 = 1;
/// Set in the state word while somebody waits for room. Changed under the lock only, and set exactly while
/// [`Shared::awaiting`] is not empty.
const AWAITED: u64 = 1 << 1;
/// One message handed over, in the state word.
const ONE: u64 = 1 << 2;

/// What a queue carries.
pub(super) trait Item: fmt::Debug + Send + Sized + 'static {
    /// What all items of one queue have in common.
    type Terms: fmt::Debug + Send + Sync;

    /// Whether the receiver takes one at a time, so that a retire finds in the queue all that was not handed over.
    const ONE_BY_ONE: bool;
}

impl Item for Message {
    type Terms = ();

    const ONE_BY_ONE: bool = false;
}

/// The queue, as publishers and the source's control see it.
#[derive(Debug)]
pub(super) struct Queue<T: Item = Message> {
    name: Name,
    terms: T::Terms,
    bound: u64,
    overflow: Overflow,
    /// What publishers write, on cache lines of its own.
    entry: CachePadded<Entry<T>>,
    /// What the receiver writes, on cache lines of its own: how many messages it has handed over, and two flags.
    state: CachePadded<AtomicU64>,
}

#[derive(Debug)]
struct Entry<T> {
    shared: Mutex<Shared<T>>,
    /// `accepted - evicted`, written under the lock, for a group that compares its members without locking them.
    entered: AtomicU64,
    /// Whether the receiver sleeps, likewise.
    idle: AtomicBool,
}

#[derive(Debug)]
struct Shared<T> {
    deque: VecDeque<T>,
    accepted: u64,
    refused: u64,
    evicted: u64,
    /// How many messages had been handed over when a publisher last looked. Looking is what costs, so it is done only
    /// when the queue seems full.
    handed: u64,
    /// The receiver, while it sleeps.
    sleeper: Option<Waker>,
    /// Who waits for room.
    awaiting: Waiters,
    /// The last reading, from retire on.
    last: Option<SourceStats>,
}

/// A new queue, and the only receiver that it will have.
pub(super) fn queue<T: Item>(
    name: Name,
    bound: NonZeroUsize,
    overflow: Overflow,
    terms: T::Terms,
) -> (Arc<Queue<T>>, Receiver<T>) {
    let shared = Shared {
        deque: VecDeque::new(),
        accepted: 0,
        refused: 0,
        evicted: 0,
        handed: 0,
        sleeper: None,
        awaiting: Waiters::default(),
        last: None,
    };
    let queue = Arc::new(Queue {
        name,
        terms,
        bound: bound.get() as u64,
        overflow,
        entry: CachePadded::new(Entry {
            shared: Mutex::new(shared),
            entered: AtomicU64::new(0),
            idle: AtomicBool::new(false),
        }),
        state: CachePadded::new(AtomicU64::new(0)),
    });
    let receiver = Receiver { queue: Arc::clone(&queue), batch: VecDeque::new(), ended: false };
    (queue, receiver)
}

impl<T: Item> Queue<T> {
    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn bound(&self) -> u64 {
        self.bound
    }

    pub(super) fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// How much there is to do here, for comparison only: what is pending, and then whether the receiver is busy.
    pub(super) fn load(&self) -> u64 {
        let handed = self.state.load(Ordering::Relaxed) / ONE;
        let pending = self.entry.entered.load(Ordering::Relaxed).saturating_sub(handed);
        pending << 1 | u64::from(!self.entry.idle.load(Ordering::Relaxed))
    }

    /// Asks to put one message in, and keeps the lock until the answer is used or dropped.
    #[inline]
    pub(super) fn admit(&self) -> Admission<Slot<'_, T>, Full<'_, T>> {
        let mut shared = self.lock();
        if shared.last.is_some() {
            return Admission::Gone;
        }
        if self.seems_full(&shared) {
            shared.handed = self.state.load(Ordering::Relaxed) / ONE;
            if self.seems_full(&shared) {
                return Admission::Full(Full { queue: self, shared });
            }
        }
        Admission::Room(Slot { queue: self, shared })
    }

    /// Whether there is room, or no queue any more to wait for. If not, `waker` is woken when that may have changed, and
    /// the ticket is filled in for [`Queue::leave`].
    pub(super) fn await_room(&self, ticket: &mut Option<u64>, waker: &Waker) -> bool {
        let mut shared = self.lock();
        if shared.last.is_some() {
            return true;
        }
        // The flag first: a message handed over after this wakes us, one handed over before it is in the count.
        shared.handed = self.state.fetch_or(AWAITED, Ordering::Relaxed) / ONE;
        if !self.seems_full(&shared) {
            self.settle_awaited(&shared);
            return true;
        }
        let old = shared.awaiting.register(ticket, waker);
        drop(shared);
        drop(old);
        false
    }

    /// Waits no longer.
    pub(super) fn leave(&self, ticket: u64) {
        let mut shared = self.lock();
        let left = shared.awaiting.leave(ticket);
        self.settle_awaited(&shared);
        drop(shared);
        drop(left);
    }

    /// Whether a publisher would find room, or no queue any more.
    pub(super) fn has_room(&self) -> bool {
        !matches!(self.admit(), Admission::Full(_))
    }

    /// The counters now. Exact: no message is between two of them while the lock is held.
    pub(super) fn stats(&self) -> SourceStats {
        let shared = self.lock();
        shared.last.unwrap_or_else(|| shared.reading(self.state.load(Ordering::Relaxed)))
    }

    /// Closes admission, ends the receiver, drops what was not handed over, and returns counters that never change
    /// again.
    pub(super) fn retire(&self) -> SourceStats {
        let mut shared = self.lock();
        if let Some(last) = shared.last {
            return last;
        }
        let last = shared.reading(self.state.fetch_or(RETIRED, Ordering::Relaxed));
        shared.last = Some(last);
        let backlog = mem::take(&mut shared.deque);
        let sleeper = shared.sleeper.take();
        let awaiting = self.take_awaiting(&mut shared);
        drop(shared);
        drop(backlog);
        sleeper.into_iter().chain(awaiting).for_each(Waker::wake);
        last
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        self.entry.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn seems_full(&self, shared: &Shared<T>) -> bool {
        shared.accepted - shared.evicted - shared.handed >= self.bound
    }

    /// Somebody gave up waiting or did not have to wait: the flag follows the list.
    fn settle_awaited(&self, shared: &Shared<T>) {
        if shared.awaiting.is_empty() {
            self.state.fetch_and(!AWAITED, Ordering::Relaxed);
        }
    }

    fn take_awaiting(&self, shared: &mut Shared<T>) -> impl Iterator<Item = Waker> + use<T> {
        self.state.fetch_and(!AWAITED, Ordering::Relaxed);
        shared.awaiting.take()
    }

    /// There is room, and somebody had asked for it.
    #[cold]
    fn wake_awaiting(&self) {
        let mut shared = self.lock();
        let awaiting = self.take_awaiting(&mut shared);
        drop(shared);
        awaiting.for_each(Waker::wake);
    }
}

impl<T> Shared<T> {
    fn reading(&self, state: u64) -> SourceStats {
        let pending = self.accepted - self.evicted - state / ONE;
        SourceStats {
            accepted: self.accepted,
            pending,
            refused: self.refused,
            evicted: self.evicted,
            ..SourceStats::default()
        }
    }
}

/// What a queue says to a publisher. Every answer but the last holds the queue's lock.
#[derive(Debug)]
pub(super) enum Admission<S, F> {
    /// There is room.
    Room(S),
    /// It is at its bound.
    Full(F),
    /// It is retired: not a subscription any more, and nothing is counted.
    Gone,
}

/// Room for one message.
#[derive(Debug)]
pub(super) struct Slot<'q, T: Item = Message> {
    queue: &'q Queue<T>,
    shared: MutexGuard<'q, Shared<T>>,
}

impl<'q, T: Item> Slot<'q, T> {
    pub(super) fn terms(&self) -> &'q T::Terms {
        &self.queue.terms
    }

    /// Puts the message in.
    #[inline]
    pub(super) fn put(mut self, message: T) -> Wake {
        let shared = &mut *self.shared;
        shared.deque.push_back(message);
        shared.accepted += 1;
        let sleeper = shared.sleeper.take();
        let entry = &self.queue.entry;
        entry.entered.store(shared.accepted - shared.evicted, Ordering::Relaxed);
        if sleeper.is_some() {
            entry.idle.store(false, Ordering::Relaxed);
        }
        Wake(sleeper)
    }
}

/// A queue at its bound.
#[derive(Debug)]
pub(super) struct Full<'q, T: Item = Message> {
    queue: &'q Queue<T>,
    shared: MutexGuard<'q, Shared<T>>,
}

impl<'q, T: Item> Full<'q, T> {
    pub(super) fn terms(&self) -> &'q T::Terms {
        &self.queue.terms
    }

    pub(super) fn name(&self) -> &'q Name {
        &self.queue.name
    }

    /// Charges the refusal to this queue, and names it.
    pub(super) fn refuse(mut self) -> &'q Name {
        self.shared.refused += 1;
        &self.queue.name
    }

    /// Does what the queue's policy says: refuses the newcomer, or evicts the head for it. True if the newcomer is in.
    pub(super) fn shed(mut self, message: T) -> bool {
        if self.queue.overflow != Overflow::ShedOldest {
            self.refuse();
            return false;
        }
        let shared = &mut *self.shared;
        // Here the receiver takes one message at a time and counts it under the lock, so all that is pending is in the
        // deque, and a bound is at least one.
        let evicted = shared.deque.pop_front();
        debug_assert!(evicted.is_some(), "a full queue that sheds its oldest has one");
        shared.evicted += 1;
        shared.deque.push_back(message);
        shared.accepted += 1;
        drop(self);
        drop(evicted);
        true
    }
}

/// A receiver that slept, to be woken once no lock is held; none if it is awake.
#[derive(Debug)]
#[must_use]
pub(super) struct Wake(Option<Waker>);

impl Wake {
    /// Whether the receiver slept.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.0.is_some()
    }

    #[inline]
    pub(super) fn now(self) {
        if let Some(waker) = self.0 {
            waker.wake();
        }
    }
}

/// The receiver's end.
#[derive(Debug)]
pub(super) struct Receiver<T: Item = Message> {
    queue: Arc<Queue<T>>,
    /// Taken from the queue and not handed over yet.
    batch: VecDeque<T>,
    ended: bool,
}

impl<T: Item> Receiver<T> {
    /// The next message; none after the queue was retired.
    #[inline]
    pub(super) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        if self.batch.is_empty() {
            match self.refill(cx) {
                Refill::Batch => {}
                Refill::HandedOver(message, before) => return Poll::Ready(Some(self.hand_over(message, before))),
                Refill::Empty => return Poll::Pending,
                Refill::Ended => return Poll::Ready(None),
            }
        }
        let before = self.queue.state.fetch_add(ONE, Ordering::Relaxed);
        if before & RETIRED != 0 {
            self.end();
            return Poll::Ready(None);
        }
        Poll::Ready(self.batch.pop_front().map(|message| self.hand_over(message, before)))
    }

    #[cold]
    fn end(&mut self) {
        self.ended = true;
        self.batch = VecDeque::new();
    }

    #[inline]
    fn hand_over(&self, message: T, before: u64) -> T {
        if before & AWAITED != 0 {
            self.queue.wake_awaiting();
        }
        message
    }

    /// Apart, since it is done once for a batch.
    #[inline(never)]
    fn refill(&mut self, cx: &Context<'_>) -> Refill<T> {
        if self.ended {
            return Refill::Ended;
        }
        let queue = &*self.queue;
        let mut shared = queue.lock();
        if shared.last.is_some() {
            self.ended = true;
            return Refill::Ended;
        }
        if shared.deque.is_empty() {
            let old = match &shared.sleeper {
                Some(sleeper) if sleeper.will_wake(cx.waker()) => None,
                _ => shared.sleeper.replace(cx.waker().clone()),
            };
            queue.entry.idle.store(true, Ordering::Relaxed);
            drop(shared);
            drop(old);
            return Refill::Empty;
        }
        if T::ONE_BY_ONE || queue.overflow == Overflow::ShedOldest {
            // A batch would hide the head from the publisher that has to evict it.
            let message = shared.deque.pop_front().expect("it is not empty");
            return Refill::HandedOver(message, queue.state.fetch_add(ONE, Ordering::Relaxed));
        }
        mem::swap(&mut shared.deque, &mut self.batch);
        Refill::Batch
    }
}

enum Refill<T> {
    /// The batch has something in it.
    Batch,
    /// One message, counted as handed over; with the state word before.
    HandedOver(T, u64),
    /// The waker is registered.
    Empty,
    Ended,
}

/// `RUSTFLAGS="--cfg loom" cargo test --lib --release loom_`
#[cfg(all(test, loom))]
mod loom_tests;
