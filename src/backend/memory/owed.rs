//! The queue of one durable identity: each message is in it from its publish until it is acknowledged or exhausted.
//!
//! The sources of the identity share it. What they have in hand is here too, so that it comes back when a source ends
//! while a handler holds on to it.
//!
//! **Invariant:** a message is in exactly one place: queued, waiting out a delay, or in one pair of hands. All three
//! count against the bound (contract B4), so what comes back always has room.
//!
//! **Invariant:** a token settles the attempt that it was made for, or nothing (E7). Its stamp is never used again, and a
//! source that ends takes its tokens with it.
//!
//! **Invariant:** at every reading of every source `accepted = handed over + pending` (L2), since `accepted` is never
//! stored. What is queued or waits out a delay is pending with the eldest live source, and what no source holds is
//! accepted by the next one, which offers it again. A message that comes back is a new offer from that instant on. A
//! sibling of the eldest that takes from the backlog takes the offer with it, so `accepted` moves from one to the other,
//! and only the sum of all sources never goes down; for a sole source, which is all that a bus has (C5b), it never does.
//! The last source to end has the backlog in its last reading. What a source has in hand when it ends was handed over
//! and is not pending; it comes back to whoever is next.
//!
//! **Invariant:** nothing of a user's is dropped or woken under the lock, so a panic cannot poison it.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    mem,
    num::{NonZeroU32, NonZeroUsize},
    sync::{Arc, OnceLock, PoisonError},
    task::{Context, Waker},
    time::Duration,
};

use crossbeam_utils::CachePadded;
use smallvec::SmallVec;
use tokio::time::Instant;

use super::{
    hands::{Hands, Token},
    queue::Admission,
    sync::{Mutex, MutexGuard},
    waiters::Waiters,
};
use crate::{
    contract::{Message, Outcome, RetireReason, Settlement, SourceStats},
    subject::Name,
};

/// One attempt at a message: the next one, or the one in hand.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) message: Message,
    pub(super) attempt: NonZeroU32,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Owed {
    bound: NonZeroUsize,
    max_deliver: NonZeroU32,
    shared: CachePadded<Mutex<Shared>>,
}

/// A source of the identity, from its opening on.
#[derive(Debug)]
pub(super) struct Seat {
    number: u64,
    /// The last reading, written under the queue's lock.
    last: OnceLock<SourceStats>,
}

#[derive(Debug)]
struct Shared {
    /// The subscription's name, as the latest source has it.
    name: Name,
    queue: VecDeque<Offer>,
    delayed: BinaryHeap<Reverse<Delayed>>,
    /// Breaks ties between delays that end together.
    declined: u64,
    hands: Hands,
    /// Those that are live, the eldest first.
    sources: Vec<Source>,
    opened: u64,
    /// Newcomers refused while there was no source.
    refused: u64,
    /// Who waits for room.
    awaiting: Waiters,
    /// The identity is given up, or its session closed.
    gone: bool,
}

#[derive(Debug)]
struct Source {
    seat: Arc<Seat>,
    handed: u64,
    refused: u64,
    exhausted: u64,
    /// Its stream, while it sleeps.
    sleeper: Option<Waker>,
}

/// What is held back, ordered by when that ends.
#[derive(Debug)]
struct Delayed {
    due: Instant,
    number: u64,
    offer: Offer,
}

/// What a source finds.
#[derive(Debug)]
pub(super) enum Found {
    Offer(Message, NonZeroU32, Token),
    /// Nothing now; the waker is registered. With the instant at which a delay ends.
    Nothing(Option<Instant>),
    /// The source has ended.
    Ended,
}

/// To be woken once no lock is held.
type Wakers = SmallVec<[Waker; 2]>;

/// What is to be woken and dropped once no lock is held.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Aftermath {
    wakers: Wakers,
    queue: VecDeque<Offer>,
    delayed: BinaryHeap<Reverse<Delayed>>,
    hands: Hands,
}

/// The settlement came too late: its source has ended, or the attempt has.
#[derive(Debug, thiserror::Error)]
#[error("the source of this delivery was retired, or its session is closed")]
pub(super) struct Stale;

impl Owed {
    pub(super) fn new(name: Name, bound: NonZeroUsize, max_deliver: NonZeroU32) -> Self {
        let shared = Shared {
            name,
            queue: VecDeque::new(),
            delayed: BinaryHeap::new(),
            declined: 0,
            hands: Hands::default(),
            sources: Vec::new(),
            opened: 0,
            refused: 0,
            awaiting: Waiters::default(),
            gone: false,
        };
        Self { bound, max_deliver, shared: CachePadded::new(Mutex::new(shared)) }
    }

    pub(super) fn bound(&self) -> NonZeroUsize {
        self.bound
    }

    pub(super) fn max_deliver(&self) -> NonZeroU32 {
        self.max_deliver
    }

    /// A further source, under this subscription's name.
    pub(super) fn open(&self, name: Name) -> Arc<Seat> {
        let mut shared = self.lock();
        let seat = Arc::new(Seat { number: shared.opened, last: OnceLock::new() });
        shared.opened += 1;
        let refused = mem::take(&mut shared.refused);
        let source = Source { seat: Arc::clone(&seat), handed: 0, refused, exhausted: 0, sleeper: None };
        shared.sources.push(source);
        let old = mem::replace(&mut shared.name, name);
        drop(shared);
        drop(old);
        seat
    }

    /// Asks to put one message in, and keeps the lock until the answer is used or dropped.
    #[inline]
    pub(super) fn admit(&self) -> Admission<Slot<'_>, Full<'_>> {
        let shared = self.lock();
        if shared.gone {
            Admission::Gone
        } else if shared.held() >= self.bound.get() {
            Admission::Full(Full(shared))
        } else {
            Admission::Room(Slot(shared))
        }
    }

    /// Whether there is room, or no identity any more to wait for. If not, `waker` is woken when that may have changed,
    /// and the ticket is filled in for [`Owed::leave`].
    pub(super) fn await_room(&self, ticket: &mut Option<u64>, waker: &Waker) -> bool {
        let mut shared = self.lock();
        if shared.gone || shared.held() < self.bound.get() {
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
        drop(shared);
        drop(left);
    }

    /// Whether a publisher would find room, or no identity any more.
    pub(super) fn has_room(&self) -> bool {
        !matches!(self.admit(), Admission::Full(_))
    }

    /// The next message for this source.
    pub(super) fn take(&self, seat: &Seat, cx: &Context<'_>) -> Found {
        let mut guard = self.lock();
        let shared = &mut *guard;
        let Some(source) = shared.sources.iter_mut().find(|source| source.seat.number == seat.number) else {
            return Found::Ended;
        };
        if !shared.delayed.is_empty() {
            let now = Instant::now();
            while shared.delayed.peek().is_some_and(|Reverse(first)| first.due <= now) {
                shared.queue.extend(shared.delayed.pop().map(|Reverse(first)| first.offer));
            }
        }
        if let Some(offer) = shared.queue.pop_front() {
            source.handed += 1;
            let (message, attempt) = (offer.message.clone(), offer.attempt);
            return Found::Offer(message, attempt, shared.hands.put(seat.number, offer));
        }
        let old = match &source.sleeper {
            Some(sleeper) if sleeper.will_wake(cx.waker()) => None,
            _ => source.sleeper.replace(cx.waker().clone()),
        };
        let due = shared.delayed.peek().map(|Reverse(first)| first.due);
        drop(guard);
        drop(old);
        Found::Nothing(due)
    }

    /// Settles the attempt that the token was made for.
    pub(super) fn settle(&self, token: Token, settlement: Settlement) -> Result<(), Stale> {
        let due = due(settlement.delay);
        let mut shared = self.lock();
        let Some((holder, mut offer)) = shared.hands.take(token) else { return Err(Stale) };
        let mut wakers = Wakers::new();
        let gone = match settlement.outcome {
            Outcome::Acked => true,
            Outcome::Returned => false,
            // A decline, and what is not known is one too (T5).
            _ if offer.attempt >= self.max_deliver => {
                if let Some(source) = shared.sources.iter_mut().find(|source| source.seat.number == holder) {
                    source.exhausted += 1;
                }
                true
            }
            _ => {
                offer.attempt = offer.attempt.saturating_add(1);
                false
            }
        };
        let done = if gone {
            if !shared.awaiting.is_empty() {
                wakers.extend(shared.awaiting.take());
            }
            Some(offer)
        } else {
            shared.come_back(offer, due, &mut wakers);
            None
        };
        drop(shared);
        drop(done);
        wakers.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// The counters of a source now.
    pub(super) fn stats(&self, seat: &Seat) -> SourceStats {
        let shared = self.lock();
        if let Some(last) = seat.last.get() {
            return *last;
        }
        match shared.sources.iter().position(|source| source.seat.number == seat.number) {
            Some(at) => shared.reading(at, at == 0),
            None => SourceStats::default(),
        }
    }

    /// Ends a source, and the identity if it is the last one and is given up: then the answer is true. Returns counters
    /// that never change again.
    pub(super) fn retire(&self, seat: &Seat, reason: RetireReason) -> (SourceStats, bool, Aftermath) {
        let mut shared = self.lock();
        let mut after = Aftermath::default();
        let at = shared.sources.iter().position(|source| source.seat.number == seat.number);
        let Some(at) = at else { return (seat.last.get().copied().unwrap_or_default(), false, after) };
        let last = shared.end(at, &mut after.wakers);
        let gone = reason == RetireReason::GivenUp && shared.sources.is_empty();
        if gone {
            shared.give_up(&mut after);
        } else {
            for offer in shared.hands.take_all(seat.number) {
                shared.come_back(offer, None, &mut after.wakers);
            }
            // Whom the ended one was woken for in vain.
            shared.wake_sleepers(&mut after.wakers);
        }
        (last, gone, after)
    }

    /// The session is closed: every source ends, and nothing is kept.
    pub(super) fn close(&self) -> Aftermath {
        let mut shared = self.lock();
        let mut after = Aftermath::default();
        while !shared.sources.is_empty() {
            let youngest = shared.sources.len() - 1;
            shared.end(youngest, &mut after.wakers);
        }
        shared.give_up(&mut after);
        after
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn backlog(&self) -> usize {
        self.queue.len() + self.delayed.len()
    }

    fn held(&self) -> usize {
        self.backlog() + self.hands.len()
    }

    fn reading(&self, at: usize, has_backlog: bool) -> SourceStats {
        let source = &self.sources[at];
        let pending = if has_backlog { self.backlog() as u64 } else { 0 };
        SourceStats {
            accepted: source.handed + pending,
            pending,
            refused: source.refused,
            exhausted: source.exhausted,
            ..SourceStats::default()
        }
    }

    /// Freezes the counters of a source, and takes it out.
    fn end(&mut self, at: usize, wakers: &mut Wakers) -> SourceStats {
        let last = self.reading(at, self.sources.len() == 1);
        let Source { seat, sleeper, .. } = self.sources.remove(at);
        wakers.extend(sleeper);
        *seat.last.get_or_init(|| last)
    }

    /// A message comes back, behind what is queued, once its delay has passed.
    fn come_back(&mut self, offer: Offer, due: Option<Instant>, wakers: &mut Wakers) {
        let Some(due) = due else {
            self.queue.push_back(offer);
            self.wake_sleepers(wakers);
            return;
        };
        // Whoever sleeps has set its timer for the first delay to end.
        if self.delayed.peek().is_none_or(|Reverse(first)| due < first.due) {
            self.wake_sleepers(wakers);
        }
        self.declined += 1;
        self.delayed.push(Reverse(Delayed { due, number: self.declined, offer }));
    }

    /// All of them: one that was woken alone might never poll again, beside a sibling that would.
    fn wake_sleepers(&mut self, wakers: &mut Wakers) {
        for source in &mut self.sources {
            if let Some(sleeper) = source.sleeper.take() {
                wakers.push(sleeper);
            }
        }
    }

    fn give_up(&mut self, after: &mut Aftermath) {
        self.gone = true;
        after.queue = mem::take(&mut self.queue);
        after.delayed = mem::take(&mut self.delayed);
        after.hands = mem::take(&mut self.hands);
        after.wakers.extend(self.awaiting.take());
    }
}

impl Aftermath {
    /// Drops what is gone, and then wakes.
    pub(super) fn see_to(self) {
        let Self { wakers, queue, delayed, hands } = self;
        drop((queue, delayed, hands));
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Room for one message.
#[derive(Debug)]
pub(super) struct Slot<'o>(MutexGuard<'o, Shared>);

impl Slot<'_> {
    /// Puts the message in, and says whom to wake once no lock is held.
    #[inline]
    pub(super) fn put(mut self, message: Message) -> impl Iterator<Item = Waker> + use<> {
        self.0.queue.push_back(Offer { message, attempt: NonZeroU32::MIN });
        let mut wakers = Wakers::new();
        self.0.wake_sleepers(&mut wakers);
        wakers.into_iter()
    }
}

/// A queue at its bound.
#[derive(Debug)]
pub(super) struct Full<'o>(MutexGuard<'o, Shared>);

impl Full<'_> {
    pub(super) fn name(&self) -> Name {
        self.0.name.clone()
    }

    /// Charges the refusal to the eldest source, or to the next one if there is none, and names the subscription.
    pub(super) fn refuse(mut self) -> Name {
        let shared = &mut *self.0;
        match shared.sources.first_mut() {
            Some(eldest) => eldest.refused += 1,
            None => shared.refused += 1,
        }
        self.name()
    }
}

/// When this delay has passed; none for at once.
fn due(delay: Duration) -> Option<Instant> {
    /// For delays that no clock reaches the end of.
    const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);
    if delay.is_zero() {
        return None;
    }
    let now = Instant::now();
    Some(now.checked_add(delay).unwrap_or(now + NEVER))
}

impl PartialEq for Delayed {
    fn eq(&self, other: &Self) -> bool {
        (self.due, self.number) == (other.due, other.number)
    }
}

impl Eq for Delayed {}

impl PartialOrd for Delayed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Delayed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

/// `RUSTFLAGS="--cfg loom" cargo test --lib --release loom_`
#[cfg(all(test, loom))]
mod loom_tests;
