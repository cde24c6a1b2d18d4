//! The bounded queue of one source: one task puts in, one stream takes out, and every message that finds no room is
//! counted.
//!
//! **Invariant:** `accepted = handed over + pending + evicted` (contract L2), at every reading: `pending` is what the
//! deque holds, and each message moves under the lock that counts it.
//!
//! **Invariant:** nothing is dropped, woken or sent under the lock.

use std::{
    collections::VecDeque,
    mem,
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::contract::{Overflow, SourceStats};

/// The queue of one source.
#[derive(Debug)]
pub(super) struct Queue<T> {
    bound: usize,
    overflow: Overflow,
    shared: Mutex<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    deque: VecDeque<T>,
    stats: SourceStats,
    /// Who reads, while it sleeps.
    sleeper: Option<Waker>,
    ended: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(bound: NonZeroUsize, overflow: Overflow) -> Self {
        let shared = Shared { deque: VecDeque::new(), stats: SourceStats::default(), sleeper: None, ended: false };
        Self { bound: bound.get(), overflow, shared: Mutex::new(shared) }
    }

    /// Puts in what there is room for, from the front.
    pub(super) fn fill(&self, messages: &mut VecDeque<T>) {
        let mut shared = self.lock();
        if shared.ended {
            return;
        }
        let room = self.bound.saturating_sub(shared.deque.len()).min(messages.len());
        shared.deque.extend(messages.drain(..room));
        shared.stats.accepted += room as u64;
        shared.wake_after(room > 0);
    }

    /// Puts in all of them; what that leaves no room for goes into `shed`, counted: the newcomers, or the heads.
    pub(super) fn force(&self, messages: &mut VecDeque<T>, shed: &mut Vec<T>) {
        let mut shared = self.lock();
        if shared.ended {
            return;
        }
        let Shared { deque, stats, .. } = &mut *shared;
        let before = stats.accepted;
        for message in messages.drain(..) {
            if deque.len() < self.bound {
                deque.push_back(message);
                stats.accepted += 1;
            } else if self.overflow == Overflow::ShedOldest {
                shed.extend(deque.pop_front());
                stats.evicted += 1;
                deque.push_back(message);
                stats.accepted += 1;
            } else {
                shed.push(message);
                stats.refused += 1;
            }
        }
        let entered = stats.accepted > before;
        shared.wake_after(entered);
    }

    /// The next message; none once the queue has ended.
    pub(super) fn poll_next(&self, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut shared = self.lock();
        if shared.ended {
            return Poll::Ready(None);
        }
        if let Some(message) = shared.deque.pop_front() {
            return Poll::Ready(Some(message));
        }
        let old = match &shared.sleeper {
            Some(sleeper) if sleeper.will_wake(cx.waker()) => None,
            _ => shared.sleeper.replace(cx.waker().clone()),
        };
        drop(shared);
        drop(old);
        Poll::Pending
    }

    /// The counters now.
    pub(super) fn stats(&self) -> SourceStats {
        self.lock().reading()
    }

    /// Ends the queue: nothing enters, nothing is handed over, and the counters never change again. What was left is
    /// dropped, and is the reading's `pending`.
    pub(super) fn end(&self) -> SourceStats {
        let mut shared = self.lock();
        if shared.ended {
            return shared.stats;
        }
        let last = shared.reading();
        shared.stats = last;
        shared.ended = true;
        let backlog = mem::take(&mut shared.deque);
        let sleeper = shared.sleeper.take();
        drop(shared);
        drop(backlog);
        sleeper.into_iter().for_each(Waker::wake);
        last
    }

    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Shared<T> {
    fn reading(&self) -> SourceStats {
        // Once it has ended, what was pending is no more in the deque.
        let pending = if self.ended { self.stats.pending } else { self.deque.len() as u64 };
        SourceStats { pending, ..self.stats }
    }
}

/// Wakes the reader when the lock is given up.
trait WakeAfter {
    fn wake_after(self, entered: bool);
}

impl<T> WakeAfter for MutexGuard<'_, Shared<T>> {
    fn wake_after(mut self, entered: bool) {
        let sleeper = if entered { self.sleeper.take() } else { None };
        drop(self);
        sleeper.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn queue(overflow: Overflow) -> Queue<u32> {
        Queue::new(NonZeroUsize::new(3).expect("three"), overflow)
    }

    fn take(queue: &Queue<u32>) -> Poll<Option<u32>> {
        queue.poll_next(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn b3_the_newcomer_is_refused_and_the_head_stays() {
        let (queue, mut shed) = (queue(Overflow::ShedNewest), Vec::new());
        queue.force(&mut (0..5).collect(), &mut shed);
        assert_eq!(shed, [3, 4]);
        let stats = queue.stats();
        assert_eq!((stats.accepted, stats.pending, stats.refused, stats.evicted), (3, 3, 2, 0));
        assert_eq!(take(&queue), Poll::Ready(Some(0)));
    }

    #[test]
    fn b3_the_head_is_evicted_and_the_newcomer_enters() {
        let (queue, mut shed) = (queue(Overflow::ShedOldest), Vec::new());
        queue.force(&mut (0..5).collect(), &mut shed);
        assert_eq!(shed, [0, 1]);
        let stats = queue.stats();
        assert_eq!((stats.accepted, stats.pending, stats.refused, stats.evicted), (5, 3, 0, 2));
        assert_eq!(take(&queue), Poll::Ready(Some(2)));
        assert_eq!(queue.stats().handed_over(), 1);
    }

    #[test]
    fn what_finds_no_room_stays_with_whoever_fills() {
        let (queue, mut messages) = (queue(Overflow::ShedNewest), (0..5).collect());
        queue.fill(&mut messages);
        assert_eq!(messages, [3, 4]);
        assert_eq!(queue.stats().refused, 0);
    }

    #[test]
    fn n7_after_the_end_nothing_enters_and_no_counter_changes() {
        let queue = queue(Overflow::ShedOldest);
        queue.fill(&mut (0..2).collect());
        let last = queue.end();
        assert_eq!((last.accepted, last.pending), (2, 2));
        queue.force(&mut (0..9).collect(), &mut Vec::new());
        assert_eq!(take(&queue), Poll::Ready(None));
        assert_eq!((queue.stats(), queue.end()), (last, last));
    }
}
